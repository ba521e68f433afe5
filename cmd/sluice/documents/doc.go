// Package documents implements the verbs for documents, which need no journal: validate, check, test, convert and schema.
//
// None of them calls anything outside the process, writes a file that was not named, or depends on the time. Errors of
// documents go to standard error as file:line:column: message, or with -o json into the objects printed.
package documents

import "github.com/spf13/cobra"

// New returns the verbs. Each call returns new ones, since a cobra.Command keeps the flags it was run with.
func New() []*cobra.Command {
	return []*cobra.Command{newValidate(), newCheck(), newTest(), newConvert(), newSchema()}
}
