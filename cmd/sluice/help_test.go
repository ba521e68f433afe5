package main

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// verbs returns all commands, including those that only group others.
func verbs(cmd *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		list = append(list, verbs(c)...)
	}
	return list
}

func TestEveryVerbHasHelp(t *testing.T) {
	for _, cmd := range verbs(newRoot()) {
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			require.Regexp(t, `^[A-Z].*[^.]$`, cmd.Short)
			require.Regexp(t, `(?s)^[A-Z].*\.$|…`, cmd.Long)
			require.NotEmpty(t, cmd.Example)
			texts := []string{cmd.Short, cmd.Long}
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				require.Condition(t, func() bool { return unicode.IsLower([]rune(f.Usage)[0]) }, "%s: %s", f.Name, f.Usage)
				texts = append(texts, f.Usage)
			})
			for _, text := range texts {
				require.NotRegexp(t, `(?i)\b(nobody|somebody|anybody|whoever|whom)\b`, text)
				for line := range strings.Lines(text) {
					require.LessOrEqual(t, len([]rune(strings.TrimSpace(line))), 130, line)
				}
			}
		})
	}
}

// word matches a word of a shell's command line that has no escapes and no double quotes.
var word = regexp.MustCompile(`'[^']*'|[^\s']+`)

// commandsOf returns the commands of a line, each as a list of words.
func commandsOf(line string) [][]string {
	list := [][]string{{}}
	for _, w := range word.FindAllString(line, -1) {
		switch w {
		case "|", "&&", ">":
			list = append(list, []string{})
		default:
			last := &list[len(list)-1]
			*last = append(*last, strings.Trim(w, "'"))
		}
	}
	return list
}

// Every example is a valid command line: its verb and flags exist, and the number of its arguments is right.
func TestExamplesOfHelpAreValid(t *testing.T) {
	tried := 0
	for _, cmd := range verbs(newRoot()) {
		for line := range strings.Lines(cmd.Example) {
			require.Regexp(t, `^  \S`, line)
			for _, args := range commandsOf(line) {
				if args[0] != "sluice" {
					continue
				}
				part, args := strings.Join(args, " "), args[1:]
				root := newRoot() // flags keep their values
				c, rest, err := root.Find(args)
				require.NoError(t, err, part)
				require.NoError(t, c.ParseFlags(rest), part)
				require.NoError(t, c.ValidateRequiredFlags(), part)
				require.NoError(t, c.ValidateArgs(c.Flags().Args()), part)
				tried++
			}
		}
	}
	require.Greater(t, tried, 40)
}
