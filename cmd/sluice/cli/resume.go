package cli

import (
	"os"
	"path/filepath"
	"strings"
)

// ResumeCommand returns the command line that resumes a run with the journal in dir.
func ResumeCommand(dir, id string) string {
	return program() + " run --data " + Quote(dir) + " --resume " + Quote(id)
}

// CommandLine returns the command line of a verb and its arguments for the journal in dir.
func CommandLine(dir string, args []string) string {
	line := program()
	for _, arg := range args {
		line += " " + Quote(arg)
	}
	return line + " --data " + Quote(dir)
}

// program returns the name of this program as it was called, or sluice if `go run` has built it, since that build is temporary.
func program() string {
	if strings.Contains(os.Args[0], filepath.Join(os.TempDir(), "go-build")) {
		return "sluice"
	}
	return Quote(os.Args[0])
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
