package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    `Version prints the version of Sluice, the version of Go, and the platform.`,
		Example: "  sluice version",
		Args:    cli.Arguments,
		Run:     func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), version()) },
	}
}

// version returns the version of this program that the build has recorded, if any.
func version() string {
	text := "sluice"
	if info, ok := debug.ReadBuildInfo(); ok {
		text += " " + info.Main.Version
	}
	return fmt.Sprintf("%s (%s, %s/%s)", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
