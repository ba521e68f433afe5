package rerun_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator"
)

// part is a part of a workflow that this test evaluates: a step, or a parallel, if or map around others.
type part struct {
	kind  string // step, parallel, if, map
	id    string // of a step and a map
	op    string // of a step
	tag   int    // of a step: a constant of its input; of an if: the bound
	reads []string
	over  []int // of a map
	in    []*part
	other []*part // of an if: its else
}

// text writes the part as a document.
func (p *part) text() string {
	switch p.kind {
	case "parallel":
		return "{parallel: {steps: " + texts(p.in) + "}}"
	case "if":
		return fmt.Sprintf(`{conditional: {test: "{{ (steps.%s.output ?? 0) > %d }}", then: %s, else: %s}}`, p.reads[0], p.tag, texts(p.in), texts(p.other))
	case "map":
		return fmt.Sprintf("{map: {id: %s, over: %s, steps: %s}}", p.id, strings.ReplaceAll(fmt.Sprint(p.over), " ", ", "), texts(p.in))
	}
	of := []string{fmt.Sprint(p.tag)}
	for _, read := range p.reads {
		if of = append(of, fmt.Sprintf(`"{{ steps.%s.output ?? 0 }}"`, read)); read == "item" || read == "input" {
			of[len(of)-1] = `"{{ ` + read + ` }}"`
		}
	}
	return fmt.Sprintf("{operation: %s, id: %s, input: {id: %s, of: [%s]}}", p.op, p.id, p.id, strings.Join(of, ", "))
}

func texts(list []*part) string {
	all := make([]string, len(list))
	for i, p := range list {
		all[i] = p.text()
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// answerOf returns the answer of an operation to an input: one of four numbers, so that different inputs often have equal outputs.
func answerOf(op, in string) int64 {
	h := fnv.New32a()
	h.Write([]byte(op + in))
	return int64(h.Sum32() >> 8 % 4)
}

// inputsSet has the results that a person has set, with the calls of their steps in the run in which they were set; "": this run.
type inputsSet map[string]struct {
	output int64
	beside string
}

// evaluate adds the calls of parts to calls, by step and item, including those that set results replace, and their outputs to known.
func evaluate(list []*part, known map[string]int64, calls map[string]string, item string, set inputsSet) {
	for _, p := range list {
		switch p.kind {
		case "parallel":
			evaluate(p.in, known, calls, item, set)
		case "if":
			if known[p.reads[0]] > int64(p.tag) {
				evaluate(p.in, known, calls, item, set)
			} else {
				evaluate(p.other, known, calls, item, set)
			}
		case "map":
			for i, of := range p.over {
				inner := maps.Clone(known)
				inner["item"] = int64(of)
				evaluate(p.in, inner, calls, fmt.Sprintf("[%d]", i), set)
			}
		default:
			of := []any{p.tag}
			for _, read := range p.reads {
				of = append(of, known[read])
			}
			in := fmt.Sprint(map[string]any{"id": p.id, "of": of})
			calls[p.id+item] = p.op + " " + in
			known[p.id] = answerOf(p.op, in)
			if s, ok := set[p.id+item]; ok && (s.beside == "" || s.beside == calls[p.id+item]) {
				known[p.id] = s.output
			}
		}
	}
}

// drafter writes random parts.
type drafter struct {
	t    *rapid.T
	next int
	all  []*part // that can be edited
}

func (d *drafter) draw(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "n") }

func (d *drafter) op() string { return string(rune('a' + d.draw(3))) }

func (d *drafter) parts(known []string, depth int, item bool) (list []*part, after []string) {
	for range 1 + d.draw(3) {
		p := &part{kind: "step"}
		if depth > 0 {
			p.kind = []string{"step", "step", "parallel", "if", "map"}[d.draw(5)]
		}
		if p.kind == "if" && len(known) == 0 || p.kind == "map" && item {
			p.kind = "step"
		}
		d.next++
		p.id = fmt.Sprintf("s%d", d.next)
		list, known = append(list, p), d.fill(p, known, depth, item)
		if p.kind != "parallel" {
			d.all = append(d.all, p)
		}
	}
	return list, known
}

// fill draws the fields of a part of its kind, and returns the steps whose outputs can be read after it.
func (d *drafter) fill(p *part, known []string, depth int, item bool) []string {
	switch p.kind {
	case "parallel":
		p.in, known = d.parts(known, depth-1, item)
		return known
	case "if":
		p.reads, p.tag = []string{known[d.draw(len(known))]}, d.draw(4)
		p.in, _ = d.parts(known, depth-1, item)
		p.other, _ = d.parts(known, depth-1, item)
		return known
	case "map":
		p.over = [][]int{{1, 2}, {1, 2, 3}, {2, 1}}[d.draw(3)]
		p.in, _ = d.parts(known, depth-1, true)
		return known
	}
	p.op, p.tag = d.op(), d.draw(3)
	for range d.draw(3) {
		if len(known) > 0 {
			p.reads = append(p.reads, known[d.draw(len(known))])
		}
	}
	if item {
		p.reads = append(p.reads, "item")
	}
	if d.draw(4) == 0 {
		p.reads = append(p.reads, "input")
	}
	return append(known[:len(known):len(known)], p.id)
}

// edit changes a part.
func (d *drafter) edit() {
	switch p := d.all[d.draw(len(d.all))]; p.kind {
	case "map":
		p.over = [][]int{{1, 2}, {1, 2, 3}, {2, 1}}[d.draw(3)]
	case "if":
		p.tag = d.draw(4)
	default:
		if d.draw(2) == 0 {
			p.op = d.op()
		} else {
			p.tag = d.draw(3)
		}
	}
}

// changedCalls returns the calls in is that was lacks, or has with another input or operation.
func changedCalls(was, is map[string]string) (list []string) {
	for key, call := range is {
		if was[key] != call {
			list = append(list, call)
		}
	}
	return slices.Sorted(slices.Values(list))
}

// A rerun with Changed, after any edit of any workflow, makes exactly the calls whose operation or resolved input has changed, as its
// preview says, also if the process dies after any append and the old run is deleted. The test computes these calls from the text alone.
func TestChangedMakesTheCallsThatHaveChanged(t *testing.T) {
	edits, made, crashes := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		d := &drafter{t: rt}
		list, _ := d.parts(nil, 2, false)
		document := func() string { return "{kind: Workflow, name: any, steps: " + texts(list) + "}" }
		of := func(input int64) map[string]string {
			calls := map[string]string{}
			evaluate(list, map[string]int64{"input": input}, calls, "", nil)
			return calls
		}
		before, was := document(), of(1)
		for range 1 + d.draw(2) {
			d.edit()
		}
		after, is := document(), of(1)
		want := changedCalls(was, is)
		c := newCounted(t)
		c.answer = answerOf
		old, result := c.run(t, parse(t, before), 1)
		require.NoError(rt, result.Err(), before)
		require.ElementsMatch(rt, slices.Collect(maps.Values(was)), c.made(), before)
		what := coordinator.Rerun{Changed: true, Workflow: parse(t, after)}
		_, result, calls := c.again(t, old, what)
		require.NoError(rt, result.Err(), after)
		slices.Sort(calls)
		require.Equal(rt, want, calls, "%s\n%s", before, after)
		edits, made = edits+1, made+len(calls)
		for last, ended := 1, false; !ended; last++ {
			var next *coordinator.Run
			old, _ := c.run(t, parse(t, before), 1)
			c.made()
			if next, ended = c.dying(t, old, what, last, fmt.Sprint("again", last)); next == nil {
				require.Empty(rt, c.made())
				continue
			}
			result, err := next.Wait(context.Background())
			require.NoError(rt, err)
			require.NoError(rt, result.Err())
			calls := slices.Compact(slices.Sorted(slices.Values(c.made()))) // one that was under way is made again
			require.Equal(rt, slices.Compact(slices.Clone(want)), calls, "%s\n%s\nafter append %d", before, after, last)
			crashes++
		}
	})
	t.Log(edits, "edits,", made, "calls,", crashes, "crashes")
}

// A rerun of a rerun in which results were set, after any edit of any workflow or none, makes exactly the calls whose operation or
// resolved input has changed, and keeps each set result while the operation and input that it replaces are the same.
func TestWhatIsSetStaysSetWhateverElseChanges(t *testing.T) {
	sets, replaced := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		d := &drafter{t: rt}
		list, _ := d.parts(nil, 2, false)
		document := func() string { return "{kind: Workflow, name: any, steps: " + texts(list) + "}" }
		of := func(set inputsSet) map[string]string {
			calls := map[string]string{}
			evaluate(list, map[string]int64{"input": 1}, calls, "", set)
			return calls
		}
		c, first := newCounted(t), of(nil)
		c.answer = answerOf
		old, _ := c.run(t, parse(t, document()), 1)
		c.made()
		set, settings := inputsSet{}, map[string]any{}
		for range 1 + d.draw(2) {
			step, output := slices.Sorted(maps.Keys(first))[d.draw(len(first))], int64(d.draw(4))
			s := set[step]
			s.output = output
			set[step], settings["steps."+step+".output"] = s, output
		}
		next, _, _ := c.again(t, old, coordinator.Rerun{Changed: true, Set: settings})
		was := of(set)
		for step, s := range set {
			if s.beside = was[step]; s.beside == "" {
				s.beside = "it did not run" // so nothing is kept
			}
			set[step] = s
			sets++
		}
		_, _, calls := c.again(t, next, coordinator.Rerun{Changed: true})
		require.Empty(rt, calls, "nothing has changed: %s %v", document(), settings)
		before := document()
		d.edit()
		is := of(set)
		want := changedCalls(was, is)
		for step, s := range set {
			if s.beside != is[step] {
				replaced++
			}
		}
		_, _, calls = c.again(t, next, coordinator.Rerun{Changed: true, Workflow: parse(t, document())})
		slices.Sort(calls)
		require.Equal(rt, want, calls, "%s\n%s\n%v", before, document(), settings)
	})
	t.Log(sets, "set,", replaced, "not kept")
}
