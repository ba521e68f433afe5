package documents

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/schema"
	"github.com/sluiceflow/sluice/template/expr"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema KIND",
		Short: "Print the JSON Schema of a kind of document",
		Long: `Schema prints the JSON Schema of a kind of document: ` + strings.Join(schemaKinds(), ", ") + `.
Editors that use it complete keys, show their meanings, and mark faults while a document is written.

The schemas are also published. Editors that use yaml-language-server check a document that begins with such a line:
  # yaml-language-server: $schema=` + schema.Find("Workflow").URL() + `

A schema describes the keys and the types of their values. Only sluice validate finds errors that depend on the rest of the
document, such as the name of a step that does not exist.`,
		Example: `  sluice schema Workflow
  sluice schema Scenario > scenario.schema.json`,
		Args:      cli.Arguments,
		ValidArgs: schemaKinds(),
		RunE: func(cmd *cobra.Command, args []string) error {
			k := schema.Find(args[0])
			if k == nil {
				return cli.Refuse(noSchema(args[0]))
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s", k.JSON())
			return nil
		},
	}
}

// noSchema returns the error about an unknown kind, with the kind that was probably meant.
func noSchema(kind string) error {
	if near, ok := expr.Nearest(kind, schemaKinds()); ok {
		return fmt.Errorf("there is no schema of %q (did you mean %q?)", kind, near)
	}
	return fmt.Errorf("there is no schema of %q: KIND is one of %s", kind, strings.Join(schemaKinds(), ", "))
}

// schemaKinds returns the kinds of documents, by name.
func schemaKinds() []string {
	var names []string
	for _, k := range schema.Kinds() {
		names = append(names, k.Name)
	}
	return names
}
