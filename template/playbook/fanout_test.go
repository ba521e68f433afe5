package playbook_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/playbook"
)

// routed is a playbook reduced to its arcs.
type routed []routedStep

type routedStep struct {
	join, inclusive bool
	arcs            []int
}

func (g routed) document() string {
	var b strings.Builder
	b.WriteString(head + "workflow:\n")
	for i, s := range g {
		fmt.Fprintf(&b, "- {step: s%d, ", i)
		if s.join {
			b.WriteString("spec: {join: {mode: all}}, ")
		}
		arcs := make([]string, len(s.arcs))
		for k, to := range s.arcs {
			arcs[k] = fmt.Sprintf("{step: s%d, when: '{{ ctx.x == %d }}'}", to, k)
		}
		fmt.Fprintf(&b, "next: {spec: {mode: %s}, arcs: [%s]}}\n", map[bool]string{true: "inclusive", false: "exclusive"}[s.inclusive], strings.Join(arcs, ", "))
	}
	return b.String()
}

func (g routed) fan(i int) bool { return g[i].inclusive && len(g[i].arcs) > 1 }

// mayReadAnswer reports whether a path from one step to another exists that does not pass through the step past before its end.
func (g routed) mayReadAnswer(from, to, past int) bool {
	seen, next := make([]bool, len(g)), []int{from}
	for len(next) > 0 {
		s := next[0]
		next = next[1:]
		switch {
		case s == to:
			return true
		case s != past && !seen[s]:
			seen[s] = true
			next = append(next, g[s].arcs...)
		}
	}
	return false
}

// otherInput reports whether each arc of a step leads to a join on a path that does not pass through the step.
func (g routed) otherInput(fan, join int) bool {
	return !slices.ContainsFunc(g[fan].arcs, func(to int) bool { return !g.mayReadAnswer(to, join, fan) })
}

// walk moves a token from step to step. At each step, it passes to arrives the open fan-outs, outermost first, and all fan-outs
// that the token has passed.
func (g routed) walk(r *rand.Rand, arrives func(step int, open, past []int)) {
	at := 0
	var open, past []int
	for range 30 {
		arrives(at, open, past)
		if g[at].join && len(open) > 0 {
			k := slices.IndexFunc(open, func(fan int) bool { return g.otherInput(fan, at) })
			if k < 0 {
				k = len(open) - 1
			}
			open = open[:k]
		}
		if len(g[at].arcs) == 0 {
			return
		}
		if g.fan(at) {
			past = append(past, at)
			if r.IntN(4) > 0 {
				open = append(open, at)
			}
		}
		at = g[at].arcs[r.IntN(len(g[at].arcs))]
	}
}

// TestJoinsAnswerToFanOutsThatLeadToThemAsAWhole compares the fan-outs of joins with a search along every arc. A fan-out that
// is missing can never be open.
func TestJoinsAnswerToFanOutsThatLeadToThemAsAWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := make(routed, rapid.IntRange(2, 10).Draw(t, "steps"))
		for i := range g {
			g[i] = routedStep{join: rapid.Bool().Draw(t, "join"), inclusive: rapid.IntRange(1, 4).Draw(t, "inclusive") < 4}
			for range rapid.IntRange(0, 3).Draw(t, "arcs") {
				g[i].arcs = append(g[i].arcs, rapid.IntRange(0, len(g)-1).Draw(t, "to"))
			}
		}
		g.check(t, rapid.Uint64().Draw(t, "seed"))
	})
}

// TestManyFanOutsAndJoins is the same test with more and wider fan-outs than fit into a block.
func TestManyFanOutsAndJoins(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, back := range []int{0, 20} {
		g := make(routed, 700)
		for i := range g {
			g[i] = routedStep{join: r.IntN(10) == 0, inclusive: true}
			for range 1 + r.IntN(3) {
				to := min(i+1+r.IntN(5), len(g)-1)
				if r.IntN(100) < back {
					to = r.IntN(len(g))
				}
				g[i].arcs = append(g[i].arcs, to)
			}
		}
		g[len(g)-1].arcs = nil
		for i := range 600 {
			g[50].arcs = append(g[50].arcs, 60+i)
		}
		g.check(t, 3)
	}
}

var strayed = regexp.MustCompile(`step "s(\d+)" merges .* step "s(\d+)" leads to it, but (not by|by) its arc to "s(\d+)"`)

// diamonds returns a row of n fan-outs that each end at a join: a row within another fan-out, or in a circle.
func diamonds(n int, within, round bool) routed {
	var g routed
	if within {
		g = append(g, routedStep{inclusive: true, arcs: []int{1, 4*n + 1}})
	}
	for range n {
		a := len(g)
		g = append(g, routedStep{inclusive: true, arcs: []int{a + 1, a + 2}}, routedStep{arcs: []int{a + 3}}, routedStep{arcs: []int{a + 3}},
			routedStep{join: true, arcs: []int{a + 4}})
	}
	last := &g[len(g)-1]
	switch {
	case round:
		last.arcs = []int{0}
	case within:
		g = append(g, routedStep{join: true})
	default:
		last.arcs = nil
	}
	return g
}

// nested returns n fan-outs, each except the first inside the one before it.
func nested(n int) routed {
	var g routed
	for i := range n {
		g = append(g, routedStep{inclusive: true, arcs: []int{2*i + 1, 2*i + 2}}, routedStep{arcs: []int{3*n - i}})
	}
	g = append(g, routedStep{arcs: []int{2*n + 1}})
	for i := range n {
		g = append(g, routedStep{join: true, arcs: []int{2*n + 2 + i}})
	}
	g[len(g)-1].arcs = nil
	return g
}

func (g routed) load(t require.TestingT) *playbook.Playbook {
	nodes, err := document.Parse("p.yaml", []byte(g.document()), document.Limits{Bytes: 1 << 28, Keys: 1 << 28})
	require.NoError(t, err)
	w, err := playbook.ParseNode(nodes[0])
	require.NoError(t, err)
	book, _ := playbook.Of(w)
	return book
}

// TestWhatJoinsAnswerToIsFoundForManyAtOnce: work and memory grow with the size of the playbook, and not with the product of
// its fan-outs and joins.
func TestWhatJoinsAnswerToIsFoundForManyAtOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    routed
		kept  int
		times int // maximum number of visits of a step
	}{
		{"a row", diamonds(200, false, false), 200, 2},
		{"a row in a branch", diamonds(200, true, false), 201, 2},
		{"a circle", diamonds(200, false, true), 200, 4},
		{"one within the other", nested(200), 200, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			book := c.of.load(t)
			require.LessOrEqual(t, playbook.FanOutWork(book), c.times*len(c.of))
			kept := 0
			for join := range c.of {
				for fan := range c.of {
					if c.of[join].join && book.AnswersTo(join, fan) {
						kept++
					}
				}
			}
			require.Equal(t, c.kept, kept)
			require.Empty(t, slices.DeleteFunc(book.Warnings, func(w *document.Error) bool { return !strayed.MatchString(w.Msg) }))
		})
	}
}

func BenchmarkFanOuts(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		for _, c := range []struct {
			name string
			of   routed
		}{
			{"row", diamonds(n/4, false, false)}, {"branch", diamonds(n/4, true, false)}, {"circle", diamonds(n/4, false, true)}, {"nested", nested(n / 3)},
		} {
			b.Run(fmt.Sprintf("%s/steps=%d", c.name, n), func(b *testing.B) {
				book := c.of.load(b)
				b.ReportAllocs()
				for b.Loop() {
					playbook.FanOutWork(book)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/step")
			})
		}
	}
}

func (g routed) check(t require.TestingT, seed uint64) {
	book := g.load(t)
	for join := range g {
		for fan := range g {
			if g[join].join && book.AnswersTo(join, fan) {
				require.True(t, g.fan(fan) && g.otherInput(fan, join), "s%d does not lead to s%d as a whole", fan, join)
			}
		}
	}
	warned := map[int]bool{}
	for _, warning := range book.Warnings {
		if m := strayed.FindStringSubmatch(warning.Msg); m != nil {
			join, fan, to := number(m[1]), number(m[2]), number(m[4])
			warned[join] = true
			require.True(t, g.fan(fan) && slices.Contains(g[fan].arcs, to) && !g.mayReadAnswer(to, join, fan), warning)
			require.True(t, slices.ContainsFunc(g[fan].arcs, func(to int) bool { return g.mayReadAnswer(to, join, fan) }), warning)
			require.Equal(t, m[3] == "by", g.mayReadAnswer(to, fan, -1), warning)
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for range 100 {
		g.walk(r, func(step int, open, past []int) {
			if !g[step].join {
				return
			}
			for _, fan := range open {
				require.Equal(t, g.otherInput(fan, step), book.AnswersTo(step, fan), "s%d, which is open, and s%d", fan, step)
			}
			if len(open) > 0 && !slices.ContainsFunc(past, func(fan int) bool { return g.otherInput(fan, step) }) {
				require.True(t, warned[step], "s%d is reached by way of %v", step, past)
			}
		})
	}
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
