package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/sluiceflow/sluice/client"
)

// ResumeCommand returns the command line that resumes a run with the journal in dir.
func ResumeCommand(dir, id string) string {
	return Command("run", "--data", dir, "--resume", id)
}

// CommandLine returns the command line of a verb and its arguments for the journal in dir, or at the server with that URL.
func CommandLine(dir string, args []string) string {
	where := "--data"
	if client.IsURL(dir) {
		where = "--server"
	}
	return Command(append(args[:len(args):len(args)], where, dir)...)
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
