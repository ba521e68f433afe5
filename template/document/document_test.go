package document_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/document"
)

// one reads text as a YAML file with one document.
func one(t *testing.T, text string) *document.Node {
	t.Helper()
	nodes, err := document.Parse("f.yaml", []byte(text), document.Limits{})
	require.NoError(t, err)
	require.Len(t, nodes, 1)
	return nodes[0]
}

func TestScalarsAreThoseOfTheCoreSchema(t *testing.T) {
	for text, want := range map[string]any{
		"~": nil, "null": nil, "Null": nil, `""`: "", "''": "",
		"true": true, "False": false, "yes": "yes", "on": "on", `"true"`: "true",
		"1": int64(1), "-5": int64(-5), "+5": int64(5), "0123": int64(123), "0x1F": int64(31), "0o17": int64(15),
		"1_000": "1_000", "0b11": "0b11", "12:30:45": "12:30:45", "0x": "0x", "1.2.3": "1.2.3", "-": nil,
		"1.5": 1.5, "1.0": int64(1), "1e3": int64(1000), ".5": .5, "-1.5e-3": -1.5e-3, "1e300": 1e300, "-0.0": int64(0),
		"9223372036854775807": int64(9223372036854775807), "9007199254740993.0": int64(9007199254740993), `"1"`: "1",
		"word and more": "word and more", "it's": "it's", `'it''s'`: "it's", `"a\u00e9\n"`: "aé\n",
		"2027-01-01": "2027-01-01",
	} {
		t.Run(text, func(t *testing.T) {
			if text == "-" {
				require.Equal(t, []any{nil}, one(t, text).Value())
				return
			}
			require.Equal(t, map[string]any{"k": want}, one(t, "k: "+text+"\n").Value())
		})
	}
}

func TestEveryNodeKnowsWhereItWasWritten(t *testing.T) {
	const yaml = `# an order
kind: Workflow
steps:
  - operation: split
    input: |
      first
      second
  - {operation: "pay", "the amount": [1, {deep: é, x: y}]}
  -
    - nested
`
	const json = "{\n\t\"kind\": \"Workflow\",\n\t\"steps\": [\n\t\t{\"operation\": \"split\"}, [1,2 , {\"a\" : null}]\n\t]\n}\n"
	for _, c := range []struct {
		name, file, text string
		want             []string
	}{
		{"yaml", "f.yaml", yaml, []string{
			"2:1  a mapping",
			"2:7 kind a string",
			"4:3 steps a list",
			"4:5 steps[0] a mapping",
			"4:16 steps[0].operation a string",
			"5:12 steps[0].input a string",
			"8:5 steps[1] a mapping",
			"8:17 steps[1].operation a string",
			`8:38 steps[1]["the amount"] a list`,
			`8:39 steps[1]["the amount"][0] an integer`,
			`8:42 steps[1]["the amount"][1] a mapping`,
			`8:49 steps[1]["the amount"][1].deep a string`,
			`8:55 steps[1]["the amount"][1].x a string`,
			"10:5 steps[2] a list",
			"10:7 steps[2][0] a string",
		}},
		{"json", "f.json", json, []string{
			"1:1  a mapping",
			"2:10 kind a string",
			"3:11 steps a list",
			"4:3 steps[0] a mapping",
			"4:17 steps[0].operation a string",
			"4:27 steps[1] a list",
			"4:28 steps[1][0] an integer",
			"4:30 steps[1][1] an integer",
			"4:34 steps[1][2] a mapping",
			"4:41 steps[1][2].a null",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			nodes, err := document.Parse(c.file, []byte(c.text), document.Limits{})
			require.NoError(t, err)
			var got []string
			walk(nodes[0], func(n *document.Node) {
				got = append(got, fmt.Sprintf("%d:%d %s %s", n.Pos.Line, n.Pos.Col, n.Pos.Path, n.Kind))
				require.Same(t, n, nodes[0].At(n.Pos.Path), "At(%s)", n.Pos.Path)
			})
			require.Equal(t, c.want, got)
		})
	}
}

// walk visits a node and all nodes inside it, in order.
func walk(n *document.Node, visit func(*document.Node)) {
	visit(n)
	for e := range n.Entries() {
		walk(e.Value, visit)
	}
	for _, item := range n.Items() {
		walk(item, visit)
	}
}

func TestTabsAroundAndInsideOfQuotedTextAreKept(t *testing.T) {
	n := one(t, "a: 'b\tc'\t# d\ne: |\n  f\tg\nh:\ti\nj: k\n  l\n...\n")
	require.Equal(t, map[string]any{"a": "b\tc", "e": "f\tg\n", "h": "i", "j": "k l"}, n.Value())
}

func TestGetAndTextAnswerForWhatIsNotThere(t *testing.T) {
	n := one(t, "a: {b: c}\nd: 1\n")
	text, ok := n.Get("a").Get("b").Text()
	require.True(t, ok)
	require.Equal(t, "c", text)
	_, ok = n.Get("d").Text()
	require.False(t, ok)
	require.Nil(t, n.Get("x"))
	require.Nil(t, n.Get("x").Get("y"), "a chain needs no checks on the way")
	require.Equal(t, 2, n.Len())
	require.Zero(t, n.Get("d").Len())
	require.Equal(t, document.Pos{File: "f.yaml", Line: 1, Col: 1, Path: "z"}, n.Pos.At("z"))
}

func TestKeysAreTextsHoweverTheyAreWritten(t *testing.T) {
	require.Equal(t, map[string]any{"200": "a", "true": "b", "~": "c", "1.5": "d", ".inf": "e", "": "f"},
		one(t, "200: a\ntrue: b\n~: c\n1.5: d\n.inf: e\n'': f\n").Value())
}

func TestAtStopsWhereTheDocumentStops(t *testing.T) {
	n := one(t, "steps:\n  - {operation: a}\n")
	require.Equal(t, "steps[0]", n.At("steps[0].timing.timeout").Pos.Path)
	require.Equal(t, "steps", n.At("steps[7].id").Pos.Path)
	require.Equal(t, "", n.At("stepson").Pos.Path)
}

func TestAFileMayHoldSeveralDocuments(t *testing.T) {
	nodes, err := document.Parse("f.yaml", []byte("# first\n\n---\n# nothing\n---\na: 1\n...\n---\n--- text\n---\n- b\n"), document.Limits{})
	require.NoError(t, err)
	var got []string
	for _, n := range nodes {
		got = append(got, fmt.Sprint(n.Pos, " ", n.Value()))
	}
	require.Equal(t, []string{"f.yaml:6:1 map[a:1]", "f.yaml:9:5 text", "f.yaml:11:1 [b]"}, got)
}

func TestWhatIsNoDocumentIsRefused(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"nothing", "f.yaml", "# only a comment\n", `f.yaml: no document`},
		{"an unfinished list", "f.yaml", "a: [1, 2\nb: 3\n", `f.yaml:2:1: ',' or ']' must be specified: "b"`},
		{"a tab as indentation", "f.yaml", "a:\n\t- b\n", `f.yaml:2:1: a tab cannot indent: use spaces`},
		{"a key further in than its neighbours", "f.yaml", "a:\n  b: 1\n   c: 2\n", `f.yaml:2:6: mapping value is not allowed in this context, look at the indentation and for a text with a colon that lacks quotes: "1 c"`},
		{"a key further out than its neighbours", "f.yaml", "- a: 1\nb: 2\n", `f.yaml:2:1: value is not allowed in this context, look at the indentation: "b"`},
		{"two values on a line", "f.yaml", "a: b: c\n", `f.yaml:1:4: mapping value is not allowed in this context, look at the indentation and for a text with a colon that lacks quotes: "b"`},
		{"an open quote", "f.yaml", "a: \"b\n", `f.yaml:1:4: could not find end character of double-quoted text`},
		{"a key written twice", "f.yaml", "a: 1\nb: {c: 1, c: 2}\na: 3\n",
			"f.yaml:2:11: b.c: duplicate key \"c\", first on line 2\nf.yaml:3:1: a: duplicate key \"a\", first on line 1"},
		{"an expression without quotes", "f.yaml", "a: 1\nb: {{ input }}\n", `f.yaml:2:4: put the expression in quotes: "{{ … }}"`},
		{"everything that makes YAML dangerous", "f.yaml", "a: &x [b]\nc: *x\nd: !!binary aa\n<<: {e: f}\n? g\n", strings.Join([]string{
			`f.yaml:1:4: anchors are not allowed: "&x"`,
			`f.yaml:2:4: aliases are not allowed: "*x"`,
			`f.yaml:3:4: tags are not allowed: "!!binary"`,
			`f.yaml:4:1: merge keys are not allowed: "<<"`,
			`f.yaml:5:1: write the key without a question mark: "?"`,
		}, "\n")},
		{"an alias without a name", "f.yaml", "a: *", `f.yaml:1:4: aliases are not allowed: "*"`},
		{"a tab that would be lost", "f.yaml", "a: b\tc\n", `f.yaml:1:4: put a text that contains a tab in quotes: "b\tc"`},
		{"dots that would be lost", "f.yaml", "...more\n", `f.yaml:1:1: text after the end of a document: "...more"`},
		{"a directive", "f.yaml", "%YAML 1.2\n---\na: b\n", `f.yaml:1:1: directives are not allowed: "%"`},
		{"a key that is a list", "f.yaml", "{[a]: b}\n", `f.yaml:1:5: found an invalid key for this map: ":"`},
		{"numbers that do not fit", "f.yaml", "a: 9223372036854775808\nb: -.inf\nc: 1e999\nd: 0xffffffffffffffff\ne: 0o7777777777777777777777\nf: .nan\n", strings.Join([]string{
			`f.yaml:1:4: a: integer "9223372036854775808" does not fit into 64 bits: put it in quotes`,
			`f.yaml:2:4: b: "-.inf" is infinite and cannot be a value: put it in quotes or write null`,
			`f.yaml:3:4: c: number "1e999" is out of range (at most 1.8e308): put it in quotes`,
			`f.yaml:4:4: d: hexadecimal number "0xffffffffffffffff" does not fit into 64 bits with its sign: put it in quotes`,
			`f.yaml:5:4: e: octal number "0o7777777777777777777777" does not fit into 64 bits with its sign: put it in quotes`,
			`f.yaml:6:4: f: ".nan" is not a number and cannot be a value: put it in quotes or write null`,
		}, "\n")},
		{"bytes that are no text", "f.yaml", "a: b\nc\xff: d\n", `f.yaml:2:2: document is not UTF-8`},
		{"a control character", "f.yaml", "a: b\x00\n", `f.yaml:1:5: control character U+0000`},
		{"JSON with a comma too many", "f.json", "{\"a\": [1,\n2,]}", `f.json:2:3: a[2]: invalid character ']' looking for beginning of value`},
		{"JSON with half a character", "f.json", "{\"a\":\n [\"é\\udc00\"]}", `f.json:2:5: escape \udc00 is half a surrogate pair`},
		{"JSON that ends too early", "f.json", "{\"a\": [1", `f.json:1:9: a: document ends too early`},
		{"JSON with something behind it", "f.json", "{}\n{}", `f.json:2:1: text after the end of the document`},
		{"JSON with a key written twice", "f.json", "{\"a\": 1,\n \"a\": 2}", `f.json:2:2: a: duplicate key "a", first on line 1`},
		{"JSON with a number that does not fit", "f.json", "[1e999]", `f.json:1:2: [0]: number "1e999" is out of range (at most 1.8e308): put it in quotes`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := document.Parse(c.file, []byte(c.text), document.Limits{})
			require.EqualError(t, err, c.want)
		})
	}
}

// Without the checks, the YAML parser would need minutes for some of these documents, and share one node a billion times for
// another.
func TestHostileDocumentsAreRefusedBeforeTheyAreParsed(t *testing.T) {
	const many = 100_000
	deep := document.Limits{Keys: 100, Depth: 64, Documents: 10, Text: 1000}
	for _, c := range []struct {
		name, file, text, want string
	}{
		{"nested lists", "f.yaml", strings.Repeat("[", many), "f.yaml:1:65: nested deeper than 64 levels"},
		{"nested lists that are closed", "f.yaml", strings.Repeat("[", many) + strings.Repeat("]", many), "nested deeper than 64 levels"},
		{"nested mappings", "f.yaml", strings.Repeat("{a: ", many), "nested deeper than 64 levels"},
		{"lists in lists on one line", "f.yaml", strings.Repeat("- ", many), "nested deeper than 64 levels"},
		{"indentation", "f.yaml", indented(65), "f.yaml:65:66: nested deeper than 64 levels"},
		{"JSON lists", "f.json", strings.Repeat("[", many), "f.json:1:65: [0]"},
		{"JSON objects", "f.json", strings.Repeat(`{"a":`, many), "nested deeper than 64 levels"},
		{"JSON whose name does not say so", "f", strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "nested deeper than 64 levels"},
		{"keys", "f.yaml", keys(101, "k%d: v\n"), "f.yaml:101:1: mapping of more than 100 keys"},
		{"keys in braces", "f.yaml", "{" + keys(101, "k%d: v,\n") + "}", "mapping of more than 100 keys"},
		{"keys of JSON", "f.json", "{" + keys(101, "\"k%d\": 1,\n") + `"k":1}`, "mapping of more than 100 keys"},
		{"a long string", "f.yaml", "a: " + strings.Repeat("x", 1001), "f.yaml:1:4: string of 1001 bytes is longer than 1000"},
		{"a long block of text", "f.yaml", "a: |\n" + strings.Repeat("  x\n", 501), "string of 1002 bytes is longer than 1000"},
		{"a long key of JSON", "f.json", `{"` + strings.Repeat("x", 1001) + `":1}`, "longer than 1000"},
		{"a long string of JSON", "f.json", `["` + strings.Repeat("x", 1001) + `"]`, "longer than 1000"},
		{"documents", "f.yaml", strings.Repeat("---\na: b\n", 11), "more than 10 documents"},
		{"bytes", "f.yaml", strings.Repeat("a", 1<<20+1), "f.yaml: document of 1048577 bytes is larger than 1048576"},
	} {
		t.Run(c.name, func(t *testing.T) {
			nodes, err := document.Parse(c.file, []byte(c.text), deep)
			require.ErrorIs(t, err, document.ErrLimit)
			require.ErrorContains(t, err, c.want)
			require.Empty(t, nodes)
		})
	}
	for _, fits := range []string{
		strings.Repeat("[", 64) + strings.Repeat("]", 64), indented(64), keys(100, "k%d: v\n"), "a: " + strings.Repeat("x", 1000),
		strings.Repeat("- ", 64) + "x",
	} {
		_, err := document.Parse("f.yaml", []byte(fits), deep)
		require.NoError(t, err, "%.60s", fits)
	}
}

func indented(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func keys(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestDepthIsThatOfWhatIsOpen(t *testing.T) {
	// A sequence at the column of its key is closed by the next key, any number of times.
	text := strings.Repeat("a:\n- b\n- c: 1\n  d: [2]\n", 1)
	for i := range 50 {
		text += fmt.Sprintf("k%d:\n- b\n- c: {e: [f]}\n", i)
	}
	_, err := document.Parse("f.yaml", []byte(text), document.Limits{Depth: 5})
	require.NoError(t, err)
	_, err = document.Parse("f.yaml", []byte(text), document.Limits{Depth: 4})
	require.ErrorIs(t, err, document.ErrLimit)
}

func TestTextsInErrorsAreCutAndTheirLengthIsSaid(t *testing.T) {
	whole := strings.Repeat("é", 200)
	require.Equal(t, whole, document.Clip(whole))
	require.Equal(t, `"`+whole+`"`, document.Quote(whole))
	require.Equal(t, whole+"… (of 250000 characters)", document.Clip(strings.Repeat("é", 250_000)))
	require.Equal(t, `"`+whole+`…" (of 201 characters)`, document.Quote(whole+"\n"))

	e := &document.Error{Msg: "unknown step " + strings.Repeat("x", 250_000)}
	require.Equal(t, "unknown step "+strings.Repeat("x", 1987)+"… (of 250013 characters)", e.Error())
}

func TestErrorsAreOneLineEachInTheOrderOfTheDocument(t *testing.T) {
	cause := errors.New("the cause")
	at := func(line, col int, path string) document.Pos {
		return document.Pos{File: "f.yaml", Line: line, Col: col, Path: path}
	}
	var list document.Errors
	list.Add(&document.Error{Pos: at(12, 9, "steps[1].operation"), Text: "ordr.split", Msg: `unknown operation "ordr.split"`, Suggestion: "order.split"})
	list.Add(&document.Error{Pos: at(2, 1, "deadline"), Text: strings.Repeat("é", 201), Msg: "is no duration", Err: cause})
	err := document.Join(nil, list.Err(), cause, &document.Error{Pos: document.Pos{Path: "output"}, Msg: "of a built tree"}, list.Err())

	require.EqualError(t, err, strings.Join([]string{
		"the cause",
		"output: of a built tree",
		`f.yaml:2:1: deadline: is no duration: "` + strings.Repeat("é", 200) + `…" (of 201 characters)`,
		`f.yaml:12:9: steps[1].operation: unknown operation "ordr.split" (did you mean "order.split"?)`,
	}, "\n"))
	require.ErrorIs(t, err, cause)
	fault, ok := errors.AsType[*document.Error](err)
	require.True(t, ok)
	require.Equal(t, "the cause", fault.Msg)
	require.NoError(t, document.Join(nil, nil))
	require.NoError(t, document.Errors(nil).Err())
}

func TestManyErrorsAreCutShortWhenPrinted(t *testing.T) {
	var list document.Errors
	for i := range 150 {
		list.Add(&document.Error{Pos: document.Pos{Line: i + 1, Col: 1}, Msg: "bad"})
	}
	lines := strings.Split(list.Err().Error(), "\n")
	require.Len(t, lines, 101)
	require.Equal(t, "and 50 more", lines[100])
}

func TestPositionsReadLikeThoseOfCompilers(t *testing.T) {
	for want, p := range map[string]document.Pos{
		"":           {},
		"f.yaml":     {File: "f.yaml"},
		"f.yaml:3":   {File: "f.yaml", Line: 3},
		"f.yaml:3:4": {File: "f.yaml", Line: 3, Col: 4, Path: "a"},
		"3:4":        {Line: 3, Col: 4},
	} {
		require.Equal(t, want, p.String())
	}
	p := document.Pos{Line: 1}
	require.Equal(t, `steps[2]["a b"].c-d`, p.Key("steps").Index(2).Key("a b").Key("c-d").Path)
	require.Equal(t, `["1"]`, p.Key("1").Path)
	require.True(t, document.Pos{}.IsZero())
	require.False(t, p.IsZero())
}
