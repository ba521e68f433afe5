package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluiceflow/sluice/client"
	"github.com/sluiceflow/sluice/template/expr"
)

// Choice is the value of a flag or argument that must be one of a few words.
type Choice struct {
	Value string   // one of the words; "" until Set, if it has no default
	words []string // in the order in which messages list them
}

var _ pflag.Value = (*Choice)(nil)

// NewChoice returns a Choice without a value.
func NewChoice(words ...string) *Choice { return &Choice{"", words} }

func (c *Choice) String() string { return c.Value }

// Type returns the words as help prints them after the flag: text|json.
func (c *Choice) Type() string { return strings.Join(c.words, "|") }

// Set sets the value. For an unknown word, the error names the most similar word, or all words.
func (c *Choice) Set(text string) error {
	for _, word := range c.words {
		if word == text {
			c.Value = text
			return nil
		}
	}
	if near, ok := expr.Nearest(text, c.words); ok {
		return fmt.Errorf("did you mean %q?", near)
	}
	return fmt.Errorf("it is one of %s", strings.Join(c.words, ", "))
}

// Choose adds a flag with a Choice to a command. The first word is the default; shells complete all words.
func Choose(cmd *cobra.Command, name, short, usage string, words ...string) *Choice {
	c := &Choice{words[0], words}
	cmd.Flags().VarP(c, name, short, usage)
	complete := cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
		panic(err) // only if the flag does not exist, or exists twice
	}
	return c
}

// DataVariable is the environment variable with the default of --data.
const DataVariable = "SLUICE_DATA"

// JournalFlag adds the flag --data to a command: dir is set to the folder with the journal. The flag is required unless the
// environment has a default.
func JournalFlag(cmd *cobra.Command, dir *string) {
	DataFlag(cmd, dir, "the folder `DIR` that the journal of the runs is in")
	if *dir != "" {
		return
	}
	if err := cmd.MarkFlagRequired("data"); err != nil { // so that shells offer it first
		panic(err) // only if the flag does not exist
	}
	Before(cmd, func(cmd *cobra.Command) error {
		if cmd.Flags().Changed("data") {
			return nil
		}
		return fmt.Errorf("no folder is named: name the folder of the journal with --data DIR, or in $%s", DataVariable)
	})
}

// Before adds a check that a command makes before it runs, after all checks added earlier.
func Before(cmd *cobra.Command, check func(*cobra.Command) error) {
	first := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if first != nil {
			if err := first(cmd, args); err != nil {
				return err
			}
		}
		return check(cmd)
	}
}

// ServerVariable is the environment variable with the default of --server.
const ServerVariable = "SLUICE_SERVER"

// RunsFlag adds the flags --data and --server to a command: dir is set to the folder with the journal, or to the URL of a server. One of
// them is required unless the environment has a default; the default of --data is used first.
func RunsFlag(cmd *cobra.Command, dir *string) {
	DataFlag(cmd, dir, "the folder `DIR` that the journal of the runs is in")
	ServerFlag(cmd, dir)
	if *dir != "" {
		return
	}
	cmd.MarkFlagsOneRequired("data", "server") // so that shells offer them first
	Before(cmd, func(cmd *cobra.Command) error {
		if cmd.Flags().Changed("data") || cmd.Flags().Changed("server") {
			return nil
		}
		return fmt.Errorf("no journal is named: name its folder with --data DIR or in $%s, or a server with --server URL or in $%s",
			DataVariable, ServerVariable)
	})
}

// ServerFlag adds the flag --server to a command that has --data: it sets the same variable.
func ServerFlag(cmd *cobra.Command, dir *string) {
	if text := os.Getenv(ServerVariable); *dir == "" && text != "" {
		*dir = text
		Before(cmd, func(cmd *cobra.Command) error {
			if client.IsURL(text) || cmd.Flags().Changed("data") || cmd.Flags().Changed("server") {
				return nil
			}
			return fmt.Errorf("$%s is %q, which is no URL of a server: is it http://%s?", ServerVariable, text, text)
		})
	}
	cmd.Flags().Var(&server{dir}, "server", "instead of --data, the `URL` of a sluice serve; its token is in $SLUICE_TOKEN (default: $"+ServerVariable+")")
	Exclude(cmd, "data", "server")
}

// server is the value of --server.
type server struct{ dir *string }

func (s *server) String() string { return "" }

// Type returns the word that help prints after the flag, if the usage has none.
func (s *server) Type() string { return "URL" }

// Set sets the URL.
func (s *server) Set(text string) error {
	if !client.IsURL(text) {
		return errors.New("it is the URL of a server, such as http://127.0.0.1:8080")
	}
	*s.dir = text
	return nil
}

// DataFlag adds the flag --data to a command. Its default is in the environment, see DataVariable.
func DataFlag(cmd *cobra.Command, dir *string, usage string) {
	cmd.Flags().StringVarP(dir, "data", "d", os.Getenv(DataVariable), usage+" (default: $"+DataVariable+")")
	cmd.Flags().Lookup("data").DefValue = "" // help does not depend on the environment
}
