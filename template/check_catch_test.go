package template_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/expr"
)

// catching generates trees in which conditionals read statuses of steps, and all elements read outputs.
type catching struct {
	t     *rapid.T
	n     int
	named []string // ids of the nodes made so far that can be read from here
	sure  []string // those of named that are not in a branch that has been closed
}

func (g *catching) id() string { g.n++; return fmt.Sprint("n", g.n) }

func (g *catching) made(id string) {
	g.named, g.sure = append(slices.Clip(g.named), id), append(slices.Clip(g.sure), id)
}

// reading returns an expression that reads statuses of steps, and outputs with and without defaults.
func (g *catching) reading(ways ...string) string {
	text := "{{ [1"
	for range rapid.IntRange(0, 2).Draw(g.t, "reads") {
		way, names := rapid.SampledFrom(ways).Draw(g.t, "way"), g.named
		if way == "output" {
			names = g.sure
		}
		if len(names) > 0 {
			text += ", steps." + rapid.SampledFrom(names).Draw(g.t, "read") + "." + way
		}
	}
	return text + "] }}"
}

func (g *catching) nodes(depth int) []template.Node {
	nodes := make([]template.Node, rapid.IntRange(1, 4).Draw(g.t, "nodes"))
	for i := range nodes {
		nodes[i] = g.node(depth)
	}
	return nodes
}

func (g *catching) node(depth int) template.Node {
	kind := 0
	if depth < 4 {
		kind = rapid.IntRange(0, 8).Draw(g.t, "kind")
	}
	switch kind {
	case 1:
		return &template.Sequential{Steps: g.nodes(depth + 1)}
	case 2:
		return &template.Parallel{Steps: g.nodes(depth + 1)}
	case 3, 4, 5:
		c := &template.Conditional{Test: g.reading("status", "error", "output", "output ?? 2")}
		sure := g.sure
		c.Then = g.nodes(depth + 1)
		g.sure = sure
		if rapid.Bool().Draw(g.t, "else") {
			c.Else = g.nodes(depth + 1)
		}
		g.sure = sure
		return c
	case 6:
		m := &template.Map{ID: g.id(), Over: g.reading("output ?? 2", "output")}
		named, sure := g.named, g.sure
		m.Steps = g.nodes(depth + 1)
		g.named, g.sure = named, sure
		g.made(m.ID)
		return m
	}
	s := &template.Step{ID: g.id(), Operation: "op", Input: g.reading("output", "output ?? 2", "output ?? 2", "status")}
	g.made(s.ID)
	return s
}

// The paths of readers, conditionals and read steps determine the reads of caught failures.
func TestWhatIsCaughtFollowsFromPlaces(t *testing.T) {
	caught := 0
	rapid.Check(t, func(t *rapid.T) {
		g := &catching{t: t}
		w := &template.Workflow{Name: "w", Steps: g.nodes(0)}
		checked, err := template.Check(w, template.Known{Lenient: true})
		require.NoError(t, err)
		for _, reader := range checked.Items {
			for _, r := range reader.Reads {
				if r.Field == expr.Output {
					want := slices.ContainsFunc(checked.Items, func(c *template.Item) bool { return catches(c, reader, r) })
					require.Equal(t, want, r.Caught, "%s reads %s at %s", reader.Path, r.Target.ID, r.Target.Path)
					if want {
						caught++
					}
				}
			}
		}
	})
	require.NotZero(t, caught)
}

// catches reports, from the paths, whether c has caught a failure of a step that reader reads.
func catches(c, reader *template.Item, r template.Read) bool {
	_, isConditional := c.Node.(*template.Conditional)
	asks := func(other template.Read) bool { return other.Target == r.Target && other.Field != expr.Output }
	if !isConditional || !slices.ContainsFunc(c.Reads, asks) {
		return false
	}
	at, from := level(c.Path, r.Target.Path), level(reader.Path, r.Target.Path)
	if at == from || strings.HasPrefix(from, at+".conditional.") {
		return true
	}
	return r.Defaulted && behind(at, from, r.Target.Path)
}

// level returns the path of the outermost map around path that does not contain target, or path.
func level(path, target string) string {
	for i := range path {
		if inner := strings.HasPrefix(path[i:], ".map.steps"); inner && !strings.HasPrefix(target, path[:i]+".map.steps") {
			return path[:i]
		}
	}
	return path
}

var element = regexp.MustCompile(`^(.*)\[(\d+)\]$`)

// behind reports whether a sequence runs path after first, and each branch around first inside that sequence contains target.
func behind(first, path, target string) bool {
	a, b := strings.Split(first, "."), strings.Split(path, ".")
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		x, y := element.FindStringSubmatch(a[i]), element.FindStringSubmatch(b[i])
		if x == nil || y == nil || x[1] != y[1] || i > 0 && a[i-1] == "parallel" {
			return false
		}
		m, _ := strconv.Atoi(x[2])
		n, _ := strconv.Atoi(y[2])
		for j := i; j < len(a); j++ {
			if branch := strings.Join(a[:j+1], "."); a[j] == "conditional" && !strings.HasPrefix(target, branch+"."+a[j+1][:4]) {
				return false
			}
		}
		return m < n
	}
	return false
}

func TestADefaultForNothingIsWarnedOf(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []string
		want  []string // path and step of each warning
	}{
		{"nothing catches", []string{"- {operation: a, id: y, input: \"{{ steps.x.output ?? 1 }}\"}"}, []string{"steps[1].input x"}},
		{"in the output", []string{"output: {a: \"{{ steps.x.output ?? 1 }}\"}"}, []string{"output.a x"}},
		{"caught before", []string{"- {conditional: {test: x, then: []}}", "- {operation: a, id: y, input: \"{{ steps.x.output ?? 1 }}\"}", "output: \"{{ steps.x.output ?? 1 }}\""}, nil},
		{"caught after", []string{"- {operation: a, id: y, input: \"{{ steps.x.output ?? 1 }}\"}", "- {conditional: {test: x, then: []}}"}, []string{"steps[1].input x"}},
		{"the failure of a dependent is caught", []string{"- {operation: a, id: y}", "- {conditional: {test: y, then: []}}", "output: \"{{ steps.x.output ?? 1 }}\""}, nil},
		{"only what comes before is caught", []string{"- {conditional: {test: x, then: []}}", "- {operation: a, id: y}", "output: \"{{ steps.y.output ?? 1 }}\""}, []string{"output y"}},
		{"a member may be null", []string{"- {operation: a, id: y, input: \"{{ steps.x.output.n ?? 1 }}\"}"}, nil},
		{"a pointer has no default", []string{"- {operation: a, id: y, input: {from: /steps/x/output}}"}, nil},
		{"a branch may be skipped", []string{"- {conditional: {test: \"{{ true }}\", then: [{operation: a, id: y}]}}", "- {operation: a, id: z, input: \"{{ steps.y.output ?? 1 }}\"}"}, nil},
		{"its timing may skip it", []string{"- {operation: a, id: y, timing: {timeout: PT1S, on_timeout: skip}}", "- {operation: a, id: z, input: \"{{ steps.y.output ?? 1 }}\"}"}, nil},
		{"its fulfillment may skip it", []string{"- {operation: a, id: y, fulfillment: {policy: requester_confirmation, on_not_fulfilled: skip}}", "- {operation: a, id: z, input: \"{{ steps.y.output ?? 1 }}\"}"}, nil},
		{"twice", []string{"- {operation: a, id: y, input: [\"{{ steps.x.output ?? 1 }}\", \"{{ steps.x.output ?? 2 }}\"]}"}, []string{"steps[1].input[0] x", "steps[1].input[1] x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, w := range load(t, workflow(append([]string{"steps:", "- {operation: a, id: x}"}, c.steps...)...)).Warnings {
				require.Contains(t, w.Msg, "a default catches no failure")
				require.NotZero(t, w.Line)
				got = append(got, w.Path+" "+strings.Split(w.Msg, `"`)[1])
			}
			require.Equal(t, c.want, got)
		})
	}
	w := load(t, workflow("steps:", "- {operation: a, id: x}", "- {operation: a, id: y, input: \"{{ steps.x.output ?? 1 }}\"}")).Warnings[0]
	require.EqualError(t, w, `w.yaml:5:32: steps[1].input: a default catches no failure: step "x" is never skipped, and no conditional `+
		`before this reads steps.x.status: "steps.x.output"`)
}
