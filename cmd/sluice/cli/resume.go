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

// CommandLine returns the command line of a verb and its positional arguments for dir: the folder of a journal, or the URL of a server.
// If an argument begins with a dash, as a run's id may, it and the arguments after it follow `--`. Options are other flags, with their
// values.
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

// Command returns a command line of this program. It has the name with which the program was called, or sluice if `go run` has built it,
// since that build is temporary.
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
