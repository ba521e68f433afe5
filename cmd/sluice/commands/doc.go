// Package commands implements the verbs that change a run: send, patch, decide, pause, resume, cancel, delete, abort, retry, snapshot and
// gc RUN; publish, which sets the newest version of a name; and keep and gc, which apply to all runs of a folder.
//
// Each makes one api.Request, a command in the sense of event sourcing: it is journaled or refused. If a process works on the
// journal's folder, the request goes to it over its socket; otherwise this process opens the journal for the time of the command
// (folder.With). A file holds one verb, or two that reverse each other; command.go holds their common code.
package commands

import "github.com/spf13/cobra"

// New returns the verbs. Each call returns new ones, since a cobra.Command keeps the flags it was run with.
func New() []*cobra.Command {
	return []*cobra.Command{newSend(), newPatch(), newDecide(), newPause(), newResume(), newCancel(), newDelete(), newAbort(), newRetry(), newSnapshot(), newGC(), newKeep(),
		newPublish()}
}
