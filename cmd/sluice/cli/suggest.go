package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluiceflow/sluice/template/expr"
)

// listedVerbs bounds the verbs that an error lists.
const listedVerbs = 10

// SuggestVerb is the Args function of a command with verbs below it. It refuses an unknown verb, and names the verb that was
// probably meant, or all verbs if they are few.
func SuggestVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	if name, ok := expr.Nearest(args[0], names); ok {
		return fmt.Errorf("unknown command %q (did you mean %q?)", args[0], name)
	}
	switch {
	case len(names) == 1:
		return fmt.Errorf("unknown command %q: there is only %s", args[0], names[0])
	case len(names) > 1 && len(names) <= listedVerbs:
		return fmt.Errorf("unknown command %q: it is one of %s", args[0], strings.Join(names, ", "))
	}
	return fmt.Errorf("unknown command %q", args[0])
}

// SuggestFlag is the FlagErrorFunc of the program: it adds to the error for an unknown flag the name of the flag that was probably meant,
// and describes the number or boolean that a flag with an invalid value needs. Of an unknown verb with flags, the verb is the fault: its
// flags are those of no command.
func SuggestFlag(cmd *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if _, ok := errors.AsType[*strconv.NumError](err); ok {
			want := "a whole number"
			switch wrong.GetFlag().Value.Type() {
			case "bool":
				want = "true or false"
			case "float64":
				want = "a number"
			}
			return fmt.Errorf("--%s %s: want %s", wrong.GetFlag().Name, wrong.GetValue(), want)
		}
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	if cmd.HasSubCommands() {
		if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil { // those before the flag
			return err
		}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if name, ok := expr.Nearest(unknown.GetSpecifiedName(), names); ok {
		return fmt.Errorf("%w (did you mean --%s?)", err, name)
	}
	return err
}
