package cli

import (
	"os"
	"path/filepath"
	"strings"
)

// ResumeCommand returns the command line that resumes a run with the journal in dir. It names this program as it was called, or
// sluice if `go run` has built it, since that build is temporary.
func ResumeCommand(dir, id string) string {
	return Command("run", "--data", dir, "--resume", id)
}

// Command returns a command line of this program, which it names as ResumeCommand does.
func Command(words ...string) string {
	program := os.Args[0]
	if strings.Contains(program, filepath.Join(os.TempDir(), "go-build")) {
		program = "sluice"
	}
	line := Quote(program)
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
