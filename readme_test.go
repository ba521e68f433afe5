package sluice_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func read(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// block returns the README's first block of code in a language.
func block(t *testing.T, language string) string {
	_, rest, ok := strings.Cut(read(t, "README.md"), "\n```"+language+"\n")
	require.True(t, ok, "README.md has no block of %s", language)
	code, _, ok := strings.Cut(rest, "```\n")
	require.True(t, ok)
	return code
}

// The program in the README is Example in the form of a command.
func TestTheProgramOfTheREADMEIsTheExample(t *testing.T) {
	example := read(t, "example_test.go")
	code, output, ok := strings.Cut(example, "\t// Output:\n")
	require.True(t, ok)
	code = strings.Replace(code, "package sluice_test", "package main", 1)
	code = strings.Replace(code, "func Example()", "func main()", 1)

	require.Equal(t, code+"}\n", block(t, "go"))
	require.Equal(t, strings.ReplaceAll(strings.TrimSuffix(output, "}\n"), "\t// ", ""), block(t, "text"))
	require.LessOrEqual(t, strings.Count(block(t, "go"), "\n"), 25)
}

func TestTheCommandsOfTheREADMEAreRunByCI(t *testing.T) {
	ci := read(t, ".ci/run")
	commands := 0
	for line := range strings.Lines(block(t, "sh")) {
		command, _, _ := strings.Cut(line, "#")
		require.Contains(t, ci, "\n"+strings.TrimSpace(command)+"\n")
		commands++
	}
	require.Equal(t, 3, commands)
}

// The README shows the first workflow that it runs, which has four lines.
func TestTheFirstWorkflowOfTheREADMEIsHello(t *testing.T) {
	hello := read(t, "examples/hello.yaml")
	require.Equal(t, 4, strings.Count(hello, "\n"))
	require.Contains(t, read(t, "README.md"), "\n```yaml\n"+hello+"```\n")
}

func TestTheREADMEIsShortAndItsLinksLeadSomewhere(t *testing.T) {
	text := read(t, "README.md")
	require.LessOrEqual(t, strings.Count(text, "\n"), 150)
	links := regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, links)
	for _, link := range links {
		_, err := os.Stat(filepath.FromSlash(link[1]))
		require.NoError(t, err)
	}
}

// The shadow in the README prints the same line as the shadow of a script, which the tests of the command run.
func TestTheShadowOfTheREADMEIsThatOfAScript(t *testing.T) {
	_, rest, ok := strings.Cut(read(t, "README.md"), "calls nothing, and prints `")
	require.True(t, ok)
	line, _, _ := strings.Cut(rest, "`")
	require.Contains(t, read(t, "cmd/sluice/testdata/script/shadow.txtar"), "'^  "+line+"$'")
}
