package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
)

// How the command ends.
const (
	done        = 0   // it did what was asked
	failed      = 1   // the run did not complete, or something in the way of it went wrong
	refused     = 2   // wrong usage, or a document or input that was refused
	interrupted = 130 // by Ctrl-C or SIGTERM
)

// exit is how a verb ends other than well.
type exit struct {
	code int
	err  error // what there is to say; nil: nothing, it has been said
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

func refuse(err error) error { return &exit{refused, err} }

// execute runs the command line and gives the exit code.
func execute(args []string) int {
	// What libraries tell the process's own log is not meant for whoever runs a workflow. It may repeat what servers say, and knows
	// nothing of secrets, of terminals, or of -o quiet. What the engine has to tell goes through its own logger.
	log.SetOutput(io.Discard)
	root, out := newRoot(), newStdout(os.Stdout)
	root.SetArgs(args)
	root.SetOut(out)
	at, err := root.ExecuteC()
	return report(root.ErrOrStderr(), at, out.missing(err))
}

// report says what was wrong, if anything, and gives the exit code. Faults of documents stand on lines of their own, as
// editors and other programs know them.
func report(w io.Writer, at *cobra.Command, err error) int {
	if err == nil {
		return done
	}
	e, ok := errors.AsType[*exit](err)
	if !ok { // cobra's own: it did not come to running a verb
		fmt.Fprintf(w, "sluice: %s\nRun '%s --help' for usage.\n", progress.CleanLines(strings.TrimSpace(err.Error())), at.CommandPath())
		return refused
	}
	switch {
	case e.err == nil:
	case isDocumentError(e.err):
		fmt.Fprintln(w, progress.CleanLines(e.err.Error()))
	default:
		fmt.Fprintf(w, "sluice: %s\n", progress.CleanLines(e.err.Error()))
	}
	return e.code
}

func isDocumentError(err error) bool {
	switch err.(type) {
	case document.Errors, *document.Error:
		return true
	}
	return false
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "Run workflows that must not get lost",
		Long: `Sluice runs workflows: graphs of calls, written as YAML or JSON documents. Everything that happens is journaled,
so that a run can be interrupted at any moment and resumed.`,
		Example: `  sluice run backup.yaml
  sluice validate *.yaml
  sluice graph backup.yaml --format mermaid`,
		Args:          suggestVerb,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(suggestFlag)
	root.AddCommand(newRun(), newRuns(), newExplain(), newSend(), newPatch(), newDecide(), newPause(), newResume(), newCancel(), newAbort(), newRetry(), newValidate(), newSchema(), newCheck(), newGraph(), newImport(), newTest(), newDoctor(), newVersion())
	return root
}

// suggestVerb refuses a verb that does not exist, with the one that was probably meant.
func suggestVerb(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	if name, ok := expr.Nearest(args[0], names); ok {
		return fmt.Errorf("unknown command %q (did you mean %q?)", args[0], name)
	}
	return fmt.Errorf("unknown command %q", args[0])
}

// suggestFlag adds to the error about an unknown flag the one that was probably meant.
func suggestFlag(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if name, ok := expr.Nearest(unknown.GetSpecifiedName(), names); ok {
		return fmt.Errorf("%w (did you mean --%s?)", err, name)
	}
	return err
}

// choice is a flag whose value is one of a few words.
type choice struct {
	value string
	among []string
}

var _ pflag.Value = (*choice)(nil)

func (c *choice) String() string { return c.value }

func (c *choice) Type() string { return strings.Join(c.among, "|") }

func (c *choice) Set(text string) error {
	for _, word := range c.among {
		if word == text {
			c.value = text
			return nil
		}
	}
	if near, ok := expr.Nearest(text, c.among); ok {
		return fmt.Errorf("did you mean %q?", near)
	}
	return fmt.Errorf("it is one of %s", strings.Join(c.among, ", "))
}

// choose adds such a flag to a command; the first word is its default.
func choose(cmd *cobra.Command, name, short, usage string, among ...string) *choice {
	c := &choice{among[0], among}
	cmd.Flags().VarP(c, name, short, usage)
	complete := cobra.FixedCompletions(among, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
		panic(err) // only for a flag that does not exist, or twice
	}
	return c
}
