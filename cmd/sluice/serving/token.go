package serving

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/httpapi"
	"github.com/sluiceflow/sluice/coordinator/httpapi/tokens"
)

// New returns the commands.
func New() []*cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make, list and revoke the tokens of HTTP clients of a host",
		Long: `A token lets a client use the HTTP API of sluice serve --listen, as far as its role allows:

  observer  follows the statuses of runs and steps, and sees no input, output, message or error
  viewer    reads everything, also inputs and outputs
  operator  also starts and changes runs
  author    also publishes workflows, and sends documents along
  worker    takes calls of the operations that the token names, and delivers their results; nothing else
  admin     also deletes runs, sets how long they are kept, exports and imports them, and reads the audit

The folder keeps a hash of each token, in tokens.json; the token itself is printed once, when it is created. A running host
honours new and revoked tokens at once.`,
		Example: `  sluice token create ann --role operator --data ./journal
  sluice token create shop --role worker --operation charge --operation refund --data ./journal
  sluice token list --data ./journal
  sluice token revoke ann --data ./journal`,
		Args: cli.SuggestVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCreate(), newList(), newRevoke())
	return []*cobra.Command{cmd}
}

func newCreate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a token, and print it",
		Long: `Create makes a token for a person or a program, and prints it: it is not shown again. Its commands are journaled under NAME: at
most 128 printable ASCII characters without spaces.

It ends with 0 if the token was made, and with 2 if the name is taken or invalid.`,
		Example: `  sluice token create ann --role operator --data ./journal
  sluice token create shop --role worker --operation charge --data ./journal
  SLUICE_TOKEN=$(sluice token create ci --role operator --expires 720h --data ./journal)`,
		Args: cli.Arguments,
	}
	var dir string
	var expires time.Duration
	var operations []string
	cli.JournalFlag(cmd, &dir)
	role := cli.Choose(cmd, "role", "", "what its owner may do", roles()...)
	cmd.Flags().DurationVar(&expires, "expires", 0, "how long it is valid, such as 720h (default: until it is revoked)")
	cmd.Flags().StringArrayVar(&operations, "operation", nil, "a worker may take the calls of the operation `NAME` (may be repeated)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if worker := role.Value == httpapi.Worker.String(); worker != (len(operations) > 0) {
			return cli.Refuse(errors.New("--operation names the operations of a worker: it goes with --role worker, which needs it"))
		}
		if expires < 0 {
			return cli.Refuse(fmt.Errorf("--expires: a token is valid for some time, not %s", expires))
		}
		now, until := time.Now(), time.Time{}
		if expires > 0 {
			until = now.Add(expires)
		}
		made, err := tokens.Of(dir).Create(args[0], role.Value, now, until, operations...)
		if err != nil {
			return exitOf(err)
		}
		fmt.Fprintln(cmd.OutOrStdout(), made)
		return nil
	}
	return cmd
}

func newList() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the tokens of a folder",
		Long:    `List prints the name, role, creation time and expiry of each token, by name.`,
		Example: `  sluice token list --data ./journal`,
		Args:    cli.Arguments,
	}
	var dir string
	cli.JournalFlag(cmd, &dir)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		list, err := tokens.Of(dir).List()
		if err != nil {
			return cli.Fail(err)
		}
		for _, t := range list {
			until := "until it is revoked"
			if !t.Expires.IsZero() {
				until = "until " + t.Expires.Format(time.RFC3339)
			}
			role := t.Role
			if len(t.Operations) > 0 {
				role += " of " + strings.Join(t.Operations, ", ")
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s  %s  made %s  valid %s\n", t.Name, role, t.Created.Format(time.RFC3339), until)
		}
		return nil
	}
	return cmd
}

func newRevoke() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revoke NAME",
		Short: "Revoke a token",
		Long: `Revoke removes a token. Requests with it are refused from then on, and feeds that it has opened end within 15 seconds.

It ends with 0 if the token was removed, and with 2 if there is no token of that name.`,
		Example: `  sluice token revoke ann --data ./journal`,
		Args:    cli.Arguments,
	}
	var dir string
	cli.JournalFlag(cmd, &dir)
	cmd.RunE = func(_ *cobra.Command, args []string) error { return exitOf(tokens.Of(dir).Revoke(args[0])) }
	return cmd
}

// exitOf returns the Exit for an error of the tokens.
func exitOf(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, tokens.ErrExists), errors.Is(err, tokens.ErrUnknown), errors.Is(err, tokens.ErrName):
		return cli.Refuse(err)
	}
	return cli.Fail(err)
}
