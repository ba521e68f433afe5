package documents

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/plan"
)

func newValidate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Report all errors in workflows",
		Long: `Validate reads workflows and reports all errors of all files at once, each with its place and, for a misspelt name, the name
that was probably meant. It runs nothing and writes nothing. It also warns of probable mistakes that are allowed, such as keys
without effect; a file with warnings is accepted.

An operation that no document binds is refused, unless --operations names it as one of a Go program or a worker.

For programs, -o json prints one object for each file; it may have "warnings", which have the members of errors:
  {"file":…,"ok":true,"name":…,"steps":…,"hash":…}
  {"file":…,"ok":false,"errors":[{"line":…,"column":…,"path":…,"message":…,"text":…,"suggestion":…}]}

It ends with 0 if all files are accepted, and with 2 if one is refused.`,
		Example: `  sluice validate backup.yaml
  sluice validate workflows/*.yaml -o json
  sluice validate order.yaml --operations price,ship`,
		Args: cli.Arguments,
	}
	elsewhere := cmd.Flags().StringSlice("operations", nil, "accept the operations `NAME,...`, which a program or worker has (may be repeated)")
	output := cli.Choose(cmd, "output", "o", "what to print", "text", "json")
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		v := &validation{out: cmd.OutOrStdout(), err: cmd.ErrOrStderr(), asJSON: output.Value == "json", elsewhere: *elsewhere}
		for _, file := range files {
			v.file(file)
		}
		if v.bad {
			return cli.Refuse(nil)
		}
		return nil
	}
	return cmd
}

// validation validates files one after the other, and prints the results.
type validation struct {
	out, err io.Writer
	asJSON   bool
	bad      bool // a file was refused

	elsewhere []string // operations of programs and workers
}

func (v *validation) file(file string) {
	p, err := cli.LoadToCheck(file, v.elsewhere)
	v.bad = v.bad || err != nil
	switch {
	case v.asJSON:
		v.json(file, p, err)
	case err != nil:
		fmt.Fprintln(v.err, progress.CleanLines(err.Error()))
	default:
		fmt.Fprintf(v.out, "%s: ok: %s, %s, %s\n", file, progress.Clean(p.Workflow.Name), size(p), p.Hash[:12])
		list := p.Warnings()
		for _, w := range list[:min(len(list), document.ErrorsMax)] {
			fmt.Fprintf(v.err, "warning: %s\n", progress.CleanLines(w.Error()))
		}
		if more := len(list) - document.ErrorsMax; more > 0 {
			fmt.Fprintf(v.err, "and %d more\n", more)
		}
	}
}

// size returns the number of steps of a workflow, or of machines of a world, as text.
func size(p *plan.Plan) string {
	if world, ok := machine.Of(p.Workflow); ok {
		return cli.Plural(len(world.Machines), "machine")
	}
	return cli.Plural(len(p.StepNames()), "step")
}

// verdict is the result for one file as JSON.
type verdict struct {
	File     string  `json:"file"`
	OK       bool    `json:"ok"`
	Name     string  `json:"name,omitempty"`
	Steps    int     `json:"steps,omitempty"`
	Hash     string  `json:"hash,omitempty"`
	Errors   []fault `json:"errors,omitempty"`
	Warnings []fault `json:"warnings,omitempty"`
}

// fault is one error of a document as JSON.
type fault struct {
	Line       int    `json:"line,omitempty"`
	Column     int    `json:"column,omitempty"`
	Path       string `json:"path,omitempty"`
	Message    string `json:"message"`
	Text       string `json:"text,omitempty"`
	Suggestion string `json:"suggestion,omitempty"`
}

func (v *validation) json(file string, p *plan.Plan, err error) {
	result := verdict{File: file, OK: err == nil}
	if err == nil {
		result.Name, result.Steps, result.Hash = p.Workflow.Name, len(p.StepNames()), p.Hash
		result.Warnings = faultsOf(p.Warnings())
	} else {
		result.Errors = faults(err)
	}
	_ = cli.NewJSON(v.out, v.out).Encode(result) // flat structs of strings and numbers always encode
}

func faults(err error) []fault {
	list, ok := errors.AsType[document.Errors](document.Join(err))
	if !ok {
		return nil
	}
	return faultsOf(list)
}

func faultsOf(list document.Errors) []fault {
	shown := list[:min(len(list), document.ErrorsMax)]
	out := make([]fault, len(shown))
	for i, e := range shown {
		out[i] = fault{e.Line, e.Col, e.Path, e.Message(), document.Clip(e.Text), e.Suggestion}
	}
	if more := len(list) - len(shown); more > 0 {
		out = append(out, fault{Message: fmt.Sprintf("and %d more", more)})
	}
	return out
}
