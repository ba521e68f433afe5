package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/client"
)

// ResumeCommand returns the command line that resumes a run with the journal in dir.
func ResumeCommand(dir, id string) string {
	return Command("run", "--data", dir, "--resume", id)
}

// CommandLine returns the command line of a verb and its positional arguments for the journal in dir, or at the server with that URL.
// An argument that begins with a dash, as a run's id may, stands with those that follow it behind `--`. Options are other flags, with
// their values.
func CommandLine(dir string, args []string, options ...string) string {
	where := "--data"
	if client.IsURL(dir) {
		where = "--server"
	}
	plain := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") })
	if plain < 0 {
		return Command(slices.Concat(args, options, []string{where, dir})...)
	}
	return Command(slices.Concat(args[:plain], options, []string{where, dir, "--"}, args[plain:])...)
}

// Command returns a command line of this program. It names the program as it was called, or sluice if `go run` has built it, since
// that build is temporary.
func Command(words ...string) string {
	line := os.Args[0]
	if line = Quote(line); strings.Contains(os.Args[0], filepath.Join(os.TempDir(), "go-build")) {
		line = "sluice"
	}
	for _, word := range words {
		line += " " + Quote(word)
	}
	return line
}

// Quote quotes a word for a POSIX shell, if necessary.
func Quote(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
