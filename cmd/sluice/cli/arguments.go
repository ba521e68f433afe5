package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Arguments is the Args function of a command; the usage line of the command lists the arguments. Arguments in brackets may be left out,
// and one with dots may be repeated. It refuses too few and too many arguments, and names the first missing or unexpected one.
func Arguments(cmd *cobra.Command, args []string) error {
	least, names, repeats := 0, argumentsOf(cmd.Use), false
	for _, name := range names {
		if !strings.HasPrefix(name, "[") {
			least++
		}
		repeats = strings.HasSuffix(name, "…") || strings.HasSuffix(name, "...")
	}
	line := cmd.Use
	if cmd.HasParent() {
		line = cmd.Parent().CommandPath() + " " + line
	}
	switch {
	case len(args) < least:
		return fmt.Errorf("%s: write %s", missingText(names[len(args):least]), line)
	case len(args) <= len(names) || repeats:
		return nil
	case len(names) == 0:
		return fmt.Errorf("%q is one argument too many: %s takes none", args[0], cmd.CommandPath())
	}
	return fmt.Errorf("%q is one argument too many: write %s", args[len(names)], line)
}

// argumentsOf returns the words of a usage line that stand for arguments: those before its flags and before a second form of the command.
func argumentsOf(usage string) []string {
	words := strings.Fields(usage)[1:]
	for i, word := range words {
		if word == "|" || strings.HasPrefix(word, "-") {
			return words[:i]
		}
	}
	return words
}

// missingText returns a text with the names of missing arguments.
func missingText(names []string) string {
	for i, name := range names {
		name = strings.TrimRight(name, ".…")
		names[i] = strings.ReplaceAll(name, "|", " or ")
	}
	if len(names) == 1 {
		return names[0] + " is missing"
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last] + " are missing"
}

// HelpArguments is the Args function of the help command: its arguments are the path of a verb.
func HelpArguments(cmd *cobra.Command, args []string) error {
	at, rest, err := cmd.Root().Find(args)
	if err != nil {
		return err
	}
	return SuggestVerb(at, rest)
}

// Exclude lets at most one of the flags of a command be set.
func Exclude(cmd *cobra.Command, names ...string) {
	cmd.MarkFlagsMutuallyExclusive(names...) // so that shells do not offer a second one
	Before(cmd, func(cmd *cobra.Command) error {
		first := ""
		for _, name := range names {
			switch {
			case !cmd.Flags().Changed(name):
			case first == "":
				first = name
			default:
				return fmt.Errorf("--%s and --%s cannot be combined", first, name)
			}
		}
		return nil
	})
}
