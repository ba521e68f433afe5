package queries_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
)

// changes returns the changes of steps and loops by the run's events, from a sequence on, one event per line, without calls.
func (r *run) changes(from uint64) string {
	w := inspect.NewChanges(decide.NewRoot(r.plan), from)
	var b strings.Builder
	for _, e := range r.journal {
		u := w.Apply(&e)
		var list []string
		for _, c := range u.Changes {
			if !strings.Contains(c.Step, ".") {
				list = append(list, fmt.Sprintf("%s %s→%s", c.Step, c.From, c.To))
			}
		}
		for _, l := range u.Loops {
			list = append(list, fmt.Sprintf("%s %d+%d/%d", l.Step, l.Done, l.Failed, l.Items))
		}
		if len(list) > 0 {
			fmt.Fprintf(&b, "#%d %s\n", e.Seq, strings.Join(list, ", "))
		}
	}
	return b.String()
}

func TestANetReportsTheChangesOfItsSteps(t *testing.T) {
	for _, c := range []struct {
		what, workflow, words string
		from                  uint64
		want                  string
	}{
		{"steps", branch, "a@1.t", 1, `#2 a@1 idle→running
#4 a@1 running→completed
#5 c@1 idle→running, c@1 running→completed
`},
		{"a gate", gated, "a@1.t ctx.open", 1, `#2 a@1 idle→running
#4 a@1 running→completed, g idle→waiting
#6 g@1 waiting→running, g@1 running→completed
`},
		{"a gate that denies before they are watched", gated, "a@1.t ctx.open", 5, `#6 g@1 waiting→running, g@1 running→completed
`},
		{"a loop", looped, "!a@1[0].t a@1[1].t a@1[2].t", 1, `#2 a@1 idle→running, a@1 0+0/3
#6 a@1 0+1/3
#7 a@1 1+1/3
#8 a@1 running→failed, a@1 2+1/3
`},
		{"a loop that ends with one event", `{step: a, loop: {in: "{{ [1, 2, 3] }}", iterator: i}, tool: {kind: noop}}`, "", 1, `#2 a@1 idle→running, a@1 running→completed, a@1 3+0/3
`},
		{"a loop that has begun before", looped, "!a@1[0].t a@1[1].t a@1[2].t", 7, `#7 a@1 1+1/3
#8 a@1 running→failed, a@1 2+1/3
`},
		{"a run that is cancelled", joined, "b@1.t ^", 1, `#2 a@1 idle→running, a@1 running→completed
#3 b@1 idle→running
#4 c@1 idle→running
#7 b@1 running→completed
#8 c@1 running→aborted
`},
		{"a token that is taken away from its gate", gated, "a@1.t ^", 1, `#2 a@1 idle→running
#4 a@1 running→completed, g idle→waiting
#5 g waiting→idle
`},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := start(t, c.workflow, "")
			for word := range strings.FieldsSeq(c.words) {
				r.play(word)
			}
			require.Equal(t, c.want, r.changes(c.from))
		})
	}
}
