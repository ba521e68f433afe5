// Package moves implements the verbs that copy runs out of a journal and into one: export, import and backup. They work through a
// folder.Client, like the verbs that show runs: in the process that works on the folder, or, if there is none, in this one.
package moves

import "github.com/spf13/cobra"

// New returns the verbs. Each call returns new ones, since a cobra.Command keeps the flags it was run with.
func New() []*cobra.Command {
	return []*cobra.Command{newExport(), newImport(), newBackup()}
}
