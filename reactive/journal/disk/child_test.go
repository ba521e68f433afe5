package disk_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// children are the tasks of this test binary as a child process.
var children = map[string]func(dir string){
	"open": func(dir string) {
		_, err := disk.Open(dir, disk.Config{})
		fmt.Println(err)
	},
	"fault":  faultChild,
	"append": appendChild,
}

// TestChild is the entry point of a process that a test starts.
func TestChild(t *testing.T) {
	role := os.Getenv("SLUICE_CHILD")
	if role == "" {
		t.Skip("it is for processes that other tests start")
	}
	children[role](os.Getenv("SLUICE_CHILD_DIR"))
}
