// Package cli holds the code that all verbs of the program sluice share: exit codes, output, common flags and arguments, and the
// reading of documents.
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
// A verb returns nil, which ends the program with Done; an Exit, with the code and the error to be printed; or any other error, which is
// a usage error and ends the program with Refused. Report prints the error and returns the code.
//
// # Output
//
// The result goes to the command's standard output, everything else to its standard error. In the program the standard output is a
// Stdout, which records a failed write: the program then ends with Failed although the verb itself succeeded. Text from outside,
// such as the output of a program, is shown on a terminal only after progress.Clean, ForPeople or NewJSON has removed control
// sequences.
//
// Nothing in this package is safe for concurrent use unless documented so.
package cli
