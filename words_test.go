package sluice_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// phrases lists phrases that comments, texts and docs do not use, each with its replacement. Names may have them.
var phrases = map[string]string{
	`gives`:                      "returns, yields, passes, has",
	`what (a|the) run waits for`: "the waits of the run",
	`what (has become|becomes|became|came) of`:              "the outcome or the consequences of",
	`(computes|counts|describes|emits|prints|refuses) what`: "the noun, such as: computes the changes",
	`keeps what comes`:                        "queues its events",
	`whether and why`:                         "the reason",
	`returns what`:                            "returns and a noun, such as: returns the calls",
	`go(es)? on no more`:                      "goes on no longer, ends, has ended",
	`(has|have) (a|the) run go on`:            "moves, continues or resumes the run",
	`tells? [a-z ]+ apart|tells? [a-z]+ from`: "distinguishes",
	`(is|are) told( of)?`:                     "receives, is called with, is notified of",
	`by whom`:                                 "the person or the process that",
	`but for`:                                 "except",
}

// kept matches the exceptions, in which some of these words stay: names of other programs, and texts that are stored or sent.
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

// phrasePattern finds phrases as whole words.
var phrasePattern = regexp.MustCompile(`(?i)\b(` + strings.Join(slices.Sorted(maps.Keys(phrases)), "|") + `)\b`)

// phrasesIn returns a fault for each refused phrase of a text.
func phrasesIn(text string) (faults []string) {
	for _, found := range phrasePattern.FindAllString(text, -1) {
		for p, better := range phrases {
			if regexp.MustCompile(`(?i)^(` + p + `)$`).MatchString(found) {
				faults = append(faults, strconv.Quote(found)+": write "+better)
			}
		}
	}
	return faults
}

// wordsIn returns a fault for each refused word of a text.
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

// separated returns a text in which the parts of camelCase and snake_case names are separate words.
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

// TestWords: names, comments and texts of the program and its docs use the standard words of the field. Tests are exempt.
func TestWords(t *testing.T) {
	require.Empty(t, wordsIn("flightless, forwarded, toward, rewards, context.Canceled, a commit in flight"))
	require.Equal(t, []string{`"ward": write unclaimed child`, `"Wishes": write command`}, wordsIn("a ward has takeWishes"))
	require.Empty(t, phrasesIn("forgives, what a step waits for, what of it becomes text"))
	require.Equal(t, []string{`"Gives": write returns, yields, passes, has`}, phrasesIn("Gives a value"))
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
				for _, fault := range append(wordsIn(line), phrasesIn(line)...) {
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

// goWords reports the refused words of a Go file: in its comments, texts, and the names that it declares and uses.
func goWords(t *testing.T, path string) error {
	data, err := os.ReadFile(path)
	if err != nil || !wordPattern.MatchString(separated(string(data))) && !phrasePattern.Match(data) {
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
			faults := wordsIn(text)
			if tok != token.IDENT {
				faults = append(faults, phrasesIn(text)...)
			}
			for _, fault := range faults {
				t.Errorf("%s: %s", files.Position(pos), fault)
			}
		}
	}
}
