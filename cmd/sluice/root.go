package main

import (
	"io"
	"log"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/bulk"
	"github.com/sluiceflow/sluice/cmd/sluice/changes"
	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/commands"
	"github.com/sluiceflow/sluice/cmd/sluice/documents"
	"github.com/sluiceflow/sluice/cmd/sluice/graph"
	"github.com/sluiceflow/sluice/cmd/sluice/moves"
	"github.com/sluiceflow/sluice/cmd/sluice/run"
	"github.com/sluiceflow/sluice/cmd/sluice/runs"
	"github.com/sluiceflow/sluice/cmd/sluice/serving"
)

// execute runs a command line and returns the exit code.
func execute(args []string) int {
	// Libraries write data of servers to the default logger, even secrets and control sequences. The engine has its own logger.
	log.SetOutput(io.Discard)
	root, out := newRoot(), cli.NewStdout(os.Stdout)
	root.SetArgs(args)
	root.SetOut(out)
	addCobra(root) // it writes to the output that is set
	at, err := root.ExecuteC()
	return cli.Report(root.ErrOrStderr(), at, out.Check(err))
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "Run workflows that must not get lost",
		Long: `Sluice runs workflows: graphs of calls, written as YAML or JSON documents. Everything that happens in a run is journaled, so
that a run can be interrupted at any moment and resumed.`,
		Example: `  sluice run backup.yaml
  sluice validate *.yaml
  sluice graph backup.yaml --format mermaid`,
		Args:          cli.SuggestVerb,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(cli.SuggestFlag)
	root.AddCommand(run.New()...)
	root.AddCommand(bulk.New())
	root.AddCommand(graph.New(), newVersion())
	root.AddCommand(documents.New()...)
	root.AddCommand(runs.New()...)
	root.AddCommand(commands.New()...)
	root.AddCommand(moves.New()...)
	root.AddCommand(serving.New()...)
	root.AddCommand(changes.New()...)
	return root
}

// addCobra adds the verbs of cobra, help and completion. They refuse unknown verbs and shells, for which cobra would print its help.
func addCobra(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = cli.HelpArguments
		case "completion":
			cmd.Args = cli.SuggestVerb
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range cmd.Commands() {
				shell.Args = cli.Arguments
			}
		}
	}
}
