package svg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/dag"
)

var update = flag.Bool("update", false, "write the pictures of testdata")

// pictures are those of testdata.
var pictures = map[string]func() (*dag.Graph, dag.Drawing){
	"run":      aRun,
	"frames":   frames,
	"playbook": aPlaybook,
	"hostile":  hostile,
}

func build(kind dag.Kind, nodes []string, link func(b *dag.Builder)) *dag.Graph {
	b := dag.NewBuilder(kind)
	for _, n := range nodes {
		b.AddNode(n)
	}
	link(b)
	g, err := b.Build()
	if err != nil {
		panic(err)
	}
	return g
}

func aRun() (*dag.Graph, dag.Drawing) {
	statuses := []string{"completed", "completed", "failed", "running", "pending", "aborted"}
	g := build(dag.CallGraph, []string{"receive", "price", "charge", "notify", "archive", "ship"}, func(b *dag.Builder) {
		for _, e := range [][2]int32{{0, 1}, {0, 3}, {1, 2}, {2, 5}, {3, 4}} {
			b.AddEdge(e[0], e[1], dag.Attributes{Type: dag.DependsOn})
		}
		b.AddEdge(0, 5, dag.Attributes{Type: dag.Triggered})
	})
	return g, dag.Drawing{Title: "order-5521", Node: func(id int32) dag.Look {
		return dag.Look{Label: g.Key(id) + "\n" + statuses[id], Class: statuses[id]}
	}}
}

func frames() (*dag.Graph, dag.Drawing) {
	g := build(dag.TemplateGraph, []string{"find", "each", "hash", "zip", "if", "publish", "notify", "join"}, func(b *dag.Builder) {
		for _, e := range [][2]int32{{0, 1}, {1, 2}, {2, 3}, {1, 4}, {5, 7}, {6, 7}} {
			b.AddEdge(e[0], e[1], dag.Attributes{Type: dag.Sequential})
		}
		b.AddEdge(0, 3, dag.Attributes{Type: dag.Data, DataFlow: true})
		b.AddEdge(4, 5, dag.Attributes{Type: dag.Conditional, Guards: []dag.Guard{{Condition: "lint"}}})
		b.AddEdge(4, 6, dag.Attributes{Type: dag.Conditional, Guards: []dag.Guard{{Condition: "lint", Negated: true}}})
	})
	looks := map[int32]dag.Look{
		1: {Shape: dag.Stack, Group: []string{"each file"}}, 2: {Group: []string{"each file"}}, 3: {Group: []string{"each file", "inner"}},
		4: {Shape: dag.Diamond}, 7: {Shape: dag.Dot},
	}
	return g, dag.Drawing{Title: "frames", Node: func(id int32) dag.Look { return looks[id] }}
}

func aPlaybook() (*dag.Graph, dag.Drawing) {
	g := build(dag.TemplateGraph, []string{"plan", "page", "report"}, func(b *dag.Builder) {
		b.AddEdge(0, 1, dag.Attributes{Type: dag.Sequential})
		b.AddEdge(1, 1, dag.Attributes{Type: dag.Conditional, Guards: []dag.Guard{{Condition: "more"}}})
		b.AddEdge(1, 2, dag.Attributes{Type: dag.Conditional, Guards: []dag.Guard{{Condition: "done"}}})
		b.AddEdge(2, 0, dag.Attributes{Type: dag.Sequential})
	})
	return g, dag.Drawing{Title: "pages", Node: func(id int32) dag.Look {
		if id == 2 {
			return dag.Look{Label: "report\ngate: allow if ctx.approved", Class: "gate"}
		}
		return dag.Look{}
	}}
}

var bad = []string{
	`<script>alert("1")</script>&amp;]]>`, "a\u202Eb\u2066c\u200Bd", strings.Repeat("long-name-", 400), "\x00\x1b[31m\uFFFE", "\xff\xfe broken",
	"line\nline\nline\nline\nline\nline\nline", "שלום עולם", strings.Repeat("漢", 60), "", strings.Repeat("e\u0301", 300),
}

func hostile() (*dag.Graph, dag.Drawing) {
	var keys []string
	for i := range bad {
		keys = append(keys, fmt.Sprint(i))
	}
	g := build(dag.TemplateGraph, keys, func(b *dag.Builder) {
		for i := range int32(len(bad) - 1) {
			b.AddEdge(i, i+1, dag.Attributes{Type: dag.Conditional, Guards: []dag.Guard{{Condition: strings.ToValidUTF8(bad[i], "") + "?"}}})
		}
	})
	return g, dag.Drawing{Title: bad[1] + bad[0], Node: func(id int32) dag.Look {
		return dag.Look{Label: bad[id], Class: []string{"", "made-up"}[id%2], Group: []string{bad[id/3]}}
	}}
}

func TestPicturesAreThoseOfTestdata(t *testing.T) {
	for name, picture := range pictures {
		t.Run(name, func(t *testing.T) {
			g, d := picture()
			var out bytes.Buffer
			require.NoError(t, Write(&out, g, d))
			requireStandalone(t, out.Bytes())
			file := filepath.Join("testdata", name+".svg")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), out.String(), "go test ./dag/svg -update writes it anew")
		})
	}
}

// requireStandalone checks that a picture is XML with only elements and attributes that fetch and run nothing.
func requireStandalone(t require.TestingT, picture []byte) {
	allowed := map[string]bool{"svg": true, "title": true, "style": true, "rect": true, "text": true, "g": true, "path": true, "circle": true}
	for d := xml.NewDecoder(bytes.NewReader(picture)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			require.True(t, allowed[token.Name.Local], "element %s", token.Name.Local)
			for _, a := range token.Attr {
				require.NotContains(t, []string{"href", "src", "style"}, a.Name.Local)
				require.False(t, strings.HasPrefix(a.Name.Local, "on"), a.Name.Local)
			}
		case xml.CharData:
			require.NotRegexp(t, `[\x{202A}-\x{202E}\x{2066}-\x{2069}\x{200B}-\x{200F}]`, string(token))
		}
	}
	require.NotContains(t, style, "url(")
	require.NotContains(t, style, "@import")
}

func TestAnyTextIsWrittenAsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom(bad)), 1, 6).Draw(t, "labels")
		g := build(dag.TemplateGraph, []string{"a", "b", "c", "d", "e", "f"}[:len(labels)], func(*dag.Builder) {})
		var out bytes.Buffer
		require.NoError(t, Write(&out, g, dag.Drawing{Title: labels[0], Node: func(id int32) dag.Look {
			return dag.Look{Label: labels[id], Class: labels[0], Group: labels[:id]}
		}}))
		requireStandalone(t, out.Bytes())
	})
}

func TestWhatIsCutIsWholeInTheTitle(t *testing.T) {
	name := "supplier-" + strings.Repeat("x", 100) + "-shift"
	g := build(dag.TemplateGraph, []string{name}, func(*dag.Builder) {})
	var out bytes.Buffer
	require.NoError(t, Write(&out, g, dag.Drawing{}))
	require.Contains(t, out.String(), "<title>"+name+"</title>")
	require.Regexp(t, `<text class="name"[^>]*>supplier-x+…x+-shift</text>`, out.String())
}

// A status is recognisable without its colour: its mark differs from all others, and the legend has its name.
func TestStatusesDifferInShape(t *testing.T) {
	seen := map[string]string{}
	for _, status := range statuses {
		mark := marks[status]
		require.NotEmpty(t, mark, status)
		if other, ok := seen[mark]; ok {
			require.ElementsMatch(t, []string{"idle", "pending"}, []string{status, other}, "two words for what has not begun")
		}
		seen[mark] = status
	}
	g, d := aRun()
	var out bytes.Buffer
	require.NoError(t, Write(&out, g, d))
	for _, entry := range []string{"1 failed", "1 running", "1 pending", "2 completed", "1 aborted"} {
		require.Contains(t, out.String(), ">"+entry+"</text>")
	}
}

// No text is wider than its box, by the estimate of widths, and everything is inside the picture.
func TestTextsHaveRoom(t *testing.T) {
	for name, picture := range pictures {
		g, d := picture()
		p, err := newPicture(g, d)
		require.NoError(t, err)
		for _, n := range p.nodes {
			if n.shape == dot {
				continue
			}
			require.LessOrEqual(t, widthOf(n.name, n.face())+textRoom, n.width, "%s: %s", name, n.name)
			for _, note := range n.notes {
				require.LessOrEqual(t, widthOf(note, small)+textRoom, n.width, "%s: %s", name, note)
			}
		}
		for _, row := range p.legend {
			for _, e := range row {
				require.LessOrEqual(t, e.x+24+widthOf(e.text, middle), p.width)
			}
		}
	}
}

// Thousands of steps are written in one go; numbers in paths are whole.
func TestLargeGraphs(t *testing.T) {
	keys := make([]string, 3_000)
	for i := range keys {
		keys[i] = "step-" + strconv.Itoa(i)
	}
	g := build(dag.TemplateGraph, keys, func(b *dag.Builder) {
		for i := 1; i < len(keys); i++ {
			b.AddEdge(int32((i-1)/3), int32(i), dag.Attributes{Type: dag.Sequential})
		}
	})
	var out bytes.Buffer
	require.NoError(t, Write(&out, g, dag.Drawing{}))
	require.Len(t, regexp.MustCompile(`<path class="line"`).FindAllString(out.String(), -1), len(keys)-1)
}

func TestTheErrorOfTheWriterIsReturned(t *testing.T) {
	g, d := aRun()
	failed := errors.New("disk full")
	require.ErrorIs(t, Write(failing{failed}, g, d), failed)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
