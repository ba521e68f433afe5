// Package cli holds what all verbs of the program sluice share: how a verb ends, what it writes to and how, flags and
// arguments that mean the same everywhere, and how documents are read.
//
//	cmd.RunE = func(cmd *cobra.Command, args []string) error {
//		p, err := cli.Load(args[0], template.Known{})
//		if err != nil {
//			return cli.Refuse(err)
//		}
//		objects := cli.NewObjects(cmd.OutOrStdout(), false)
//		objects.Print(p.Workflow.Name)
//		return objects.End()
//	}
//
// # Exit codes
//
// A verb returns nil, and the program ends with Done; or an Exit, with the code and what is still to be printed; or
// any other error, which is one of usage and ends the program with Refused. Report prints the error and returns the code.
//
// # Output
//
// The result goes to the command's standard output, everything else to its standard error. In the program the
// standard output is a Stdout, which remembers a write that failed: the program then ends with Failed although the verb
// itself succeeded. Text from outside, such as what a program has printed, is shown on a terminal only after progress.Clean,
// ForPeople or NewJSON has taken from it whatever a terminal would obey.
//
// Nothing in this package is safe for concurrent use, unless its documentation says so.
package cli
