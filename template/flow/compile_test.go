package flow_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The compiler refuses exactly the marked lines of a package of wrong types.
func TestWrongTypesDoNotCompile(t *testing.T) {
	source, err := os.ReadFile("testdata/wrongtypes/wrong.go")
	require.NoError(t, err)
	want := map[int]bool{}
	for i, line := range strings.Split(string(source), "\n") {
		if strings.Contains(line, "// want:") {
			want[i+1] = true
		}
	}
	require.Len(t, want, 27)

	out, err := exec.Command("go", "build", "-gcflags=-e", "./testdata/wrongtypes").CombinedOutput()
	require.Error(t, err, "it compiles")
	got := map[int]bool{}
	for _, m := range regexp.MustCompile(`wrong\.go:(\d+):`).FindAllStringSubmatch(string(out), -1) {
		line, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		got[line] = true
	}
	require.Equal(t, want, got, "%s", out)
}
