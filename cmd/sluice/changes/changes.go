// Package changes implements the verbs about the effect of a changed workflow: diff compares two versions, and shadow replays runs under
// another version; they change nothing. Move switches an open run to another version. The process that works on the folder compares the
// runs, or, if there is none, this one.
package changes

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator/api"
)

// New returns the verbs. Each call returns new ones, since a cobra.Command keeps the flags it was run with.
func New() []*cobra.Command { return []*cobra.Command{newDiff(), newShadow(), newMove()} }

// attach attaches workflows to a request.
func attach(req *api.Request, a *api.Attachment) (err error) {
	if a.Parcel == nil && a.Old == nil {
		return nil
	}
	if req.Attachment, err = a.Encode(); err != nil {
		return fmt.Errorf("attach the workflow: %w", err)
	}
	return nil
}

// line prints a line for people, indented.
func line(w io.Writer, indent, format string, args ...any) {
	fmt.Fprintln(w, indent+progress.Clean(fmt.Sprintf(format, args...)))
}
