package sluice_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// words lists words that names, comments, texts and docs do not use, each with its replacement. Their plurals are refused, too.
var words = map[string]string{
	"whoever":   "the noun: a caller, a client, an observer",
	"nobody":    "no process, no caller, no subscriber",
	"wish":      "command",
	"flight":    "call",
	"hire":      "start, or the call",
	"ward":      "unclaimed child",
	"hushed":    "redacted",
	"glance":    "revision",
	"disown":    "cancel",
	"reckon":    "compute",
	"canceled":  "cancelled",
	"canceling": "cancelling",
	"arca":      "workflowdef",
	"gift":      "delivery",
	"thanks":    "acknowledgement",
}

// Texts in which some of these words stay: the names of other programs, and what is stored or sent.
var kept = []*regexp.Regexp{
	regexp.MustCompile(`arca-task-fulfillment-decision\.v1`),                    // the schema of an answer
	regexp.MustCompile("^\"nobody\"$|`nobody`|role is nobody|, nobody, worker"), // a role, and a reason of explain
	regexp.MustCompile(`(?i)\bin flight\b`),
	regexp.MustCompile(`\bNobody\b`),   // the role in Go
	regexp.MustCompile(`\bCanceled\b`), // of package context
}

// wordPattern finds parts of names, too: camelCase is separated before it is matched.
var wordPattern = func() *regexp.Regexp {
	list := make([]string, 0, len(words))
	for w := range words {
		list = append(list, w)
	}
	return regexp.MustCompile(`(?i)\b(` + strings.Join(list, "|") + `)(e?s)?\b`)
}()

// wordsIn returns what is wrong with the words of a text.
func wordsIn(text string) (faults []string) {
	text = separated(text)
	if !wordPattern.MatchString(text) {
		return nil
	}
	for _, k := range kept {
		text = k.ReplaceAllString(text, "")
	}
	for _, m := range wordPattern.FindAllStringSubmatch(text, -1) {
		faults = append(faults, strconv.Quote(m[0])+": write "+words[strings.ToLower(m[1])])
	}
	return faults
}

// separated returns a text in which the parts of camelCase and snake_case names are words of their own.
func separated(text string) string {
	var b strings.Builder
	lower := false
	for _, r := range text {
		if lower && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		if lower = unicode.IsLower(r); r == '_' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

// TestWords: names, comments and texts of the program and its docs use the words of the field. Tests may name things as they like.
func TestWords(t *testing.T) {
	require.Empty(t, wordsIn("flightless, forwarded, toward, rewards, context.Canceled, a commit in flight"))
	require.Equal(t, []string{`"ward": write unclaimed child`, `"Wishes": write command`}, wordsIn("a ward has takeWishes"))
	files := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && path != "."):
			return filepath.SkipDir
		case strings.HasSuffix(path, "_test.go"), path == "CHANGELOG.md":
			return nil
		case strings.HasSuffix(path, ".go"):
			files++
			return goWords(t, path)
		case strings.HasSuffix(path, ".md"):
			files++
			data, err := os.ReadFile(path)
			for i, line := range strings.Split(string(data), "\n") {
				for _, fault := range wordsIn(line) {
					t.Errorf("%s:%d: %s", path, i+1, fault)
				}
			}
			return err
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, files, 500)
}

// goWords reports the words of a file in Go: its comments, texts, and the names that it declares and uses.
func goWords(t *testing.T, path string) error {
	data, err := os.ReadFile(path)
	if err != nil || !wordPattern.MatchString(separated(string(data))) {
		return err
	}
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile(path, -1, len(data)), data, nil, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		switch tok {
		case token.EOF:
			return nil
		case token.COMMENT, token.STRING, token.IDENT:
			for _, fault := range wordsIn(text) {
				t.Errorf("%s: %s", files.Position(pos), fault)
			}
		}
	}
}
