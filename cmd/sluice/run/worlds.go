package run

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/coordinator"
)

// worldFlags are the flags of a process that works on worlds.
type worldFlags struct{ keepEvents, cellsInMemory, cellBytesInMemory int }

// flagList returns the flags, each with the field that it sets.
func (f *worldFlags) flagList() []worldFlag {
	return []worldFlag{
		{"keep-events", &f.keepEvents, "of each world, keep at least the newest `N` events; -1: all (default: 1,000,000)"},
		{"cells-in-memory", &f.cellsInMemory, "of each machine of a world, keep `N` cells at rest in memory; -1: none (default: 4,096)"},
		{"cell-bytes-in-memory", &f.cellBytesInMemory, "and of their states at most `N` bytes; -1: none (default: 64 MiB)"},
	}
}

type worldFlag struct {
	name  string
	value *int
	usage string
}

func (f *worldFlags) add(cmd *cobra.Command) {
	for _, flag := range f.flagList() {
		cmd.Flags().IntVar(flag.value, flag.name, 0, flag.usage)
	}
}

// names returns the names of the flags.
func (f *worldFlags) names() (list []string) {
	for _, flag := range f.flagList() {
		list = append(list, flag.name)
	}
	return list
}

// configure sets the fields of an engine's configuration.
func (f *worldFlags) configure(c *coordinator.Config) {
	c.KeepEvents, c.CellsInMemory, c.CellBytesInMemory = f.keepEvents, f.cellsInMemory, f.cellBytesInMemory
}

// text returns the flags that were set, as arguments of a command line.
func (f *worldFlags) text() (text string) {
	for _, flag := range f.flagList() {
		if *flag.value != 0 {
			text += fmt.Sprintf(" --%s %d", flag.name, *flag.value)
		}
	}
	return text
}
