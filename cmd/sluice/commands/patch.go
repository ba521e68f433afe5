package commands

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/template/value"
)

func newPatch() *cobra.Command {
	cmd, c := newCommand(api.Patch, &cobra.Command{
		Use:   "patch RUN ctx.KEY=VALUE...",
		Short: "Change the context of a playbook's run",
		Long: `Patch writes values to the context of a playbook's run, all of them or none. Gates then judge their waiting tokens again.
KEY may be a path, such as limits.price; missing objects on the path are created. VALUE is JSON if it parses as JSON,
and otherwise a string: true is a boolean, 3 a number, '"3"' a string, and so is ann.`,
		Example: `  sluice patch tuesday ctx.approved=true --data ./journal
  sluice patch tuesday ctx.by=ann ctx.limits.price=12.5 --data ./journal
  sluice patch tuesday 'ctx.order={"sku": "A-1", "n": 2}' --data ./journal`,
		Args: cli.Arguments,
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		changes, err := parseChanges(args[1:])
		if err != nil {
			return cli.Refuse(err)
		}
		c.req.Run, c.req.Payload = args[0], cli.ValueJSON(changes)
		return c.send(cmd)
	}
	return cmd
}

// parseChanges returns the values to be written, by path without ctx. It refuses arguments that are not ctx.PATH=VALUE, and repeated
// paths.
func parseChanges(args []string) (map[string]any, error) {
	changes := map[string]any{}
	for _, arg := range args {
		key, text, ok := strings.Cut(arg, "=")
		path, isCtx := strings.CutPrefix(key, "ctx.")
		_, isPath := value.ParsePath(path)
		switch {
		case !ok:
			return nil, fmt.Errorf("%q has no value: write %s=VALUE", arg, arg)
		case !isCtx:
			return nil, fmt.Errorf("%q: only the context can be written: write ctx.%s", key, key)
		case !isPath:
			return nil, fmt.Errorf("%q is not a path: write ctx.key or ctx.key.inner", key)
		}
		if _, twice := changes[path]; twice {
			return nil, errors.New(key + " is written twice")
		}
		v, err := patchValue(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		changes[path] = v
	}
	return changes, nil
}

// patchValue returns the value of an argument: the JSON value if the text parses as JSON, else the text itself. It refuses JSON beyond
// the limits of inputs, and the placeholder of suggested commands.
func patchValue(text string) (value.Value, error) {
	if text == inspect.BlankValue {
		return nil, fmt.Errorf(`%[1]s stands for the value: write it in its place; for the text %[1]s itself, write '"%[1]s"'`, text)
	}
	if _, err := value.ParseJSON([]byte(text)); err != nil && utf8.ValidString(text) {
		return text, nil
	}
	return value.ParseInput([]byte(text))
}
