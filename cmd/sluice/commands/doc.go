// Package commands holds the verbs that change a run: send, patch, decide, pause, resume, cancel, abort and retry.
//
// Each makes one api.Request, a command in the sense of event sourcing: it is journaled or refused. Where a process works on the
// journal's folder, the request goes to it over its socket; otherwise this process opens the journal for as long as the
// command takes (control.With). One file holds one verb, or two that are each other's reverse; command.go holds what they share.
package commands

import "github.com/spf13/cobra"

// New returns the verbs. Each call returns new ones, since a cobra.Command keeps the flags it was run with.
func New() []*cobra.Command {
	return []*cobra.Command{newSend(), newPatch(), newDecide(), newPause(), newResume(), newCancel(), newAbort(), newRetry()}
}
