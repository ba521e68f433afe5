package control_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/find"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// bothWays runs a test with a client in the process and with one that uses a socket.
func bothWays(t *testing.T, test func(t *testing.T, e *coordinator.Engine, c *folder.Client)) {
	t.Run("local", func(t *testing.T) {
		e := newEngine(t, memory.New())
		test(t, e, folder.Local(e))
	})
	t.Run("socket", func(t *testing.T) {
		e, c, _ := held(t)
		test(t, e, c)
	})
}

func TestARunIsFinishedFromOutside(t *testing.T) {
	bothWays(t, func(t *testing.T, e *coordinator.Engine, c *folder.Client) {
		run := start(t, e, "r1")
		shown, err := c.Show(t.Context(), "r1")
		require.NoError(t, err)
		require.Equal(t, "bob", shown.Actor)
		require.Equal(t, "letter", shown.Steps[0].Message)

		done, err := c.Do(t.Context(), &api.Request{
			Verb: api.Send, Run: "r", Message: "letter", Payload: json.RawMessage(`{"n": 9007199254740993}`), Actor: "ann",
		})
		require.NoError(t, err)
		require.Equal(t, api.Done{Run: "r1", Driven: true, Did: "send"}, done)
		await(t, c, "r1")
		shown, err = c.Show(t.Context(), "r1")
		require.NoError(t, err)
		require.Equal(t, "waiting", shown.Status)
		step := shown.Steps[1]
		require.Equal(t, []any{"contract", "completed", true, "pending", int32(1)},
			[]any{step.Step, step.Status, step.Decidable, step.Fulfillment, step.Attempts})
		require.False(t, step.Ended.Before(step.Began))

		_, err = c.Do(t.Context(), &api.Request{
			Verb: api.Decide, Run: "r1", Step: "contract", Decision: api.Fulfilled, Reason: "signed", Actor: "ann",
		})
		require.NoError(t, err)
		result, err := run.Wait(t.Context())
		require.NoError(t, err)
		require.NoError(t, result.Err())
		shown, err = c.Show(t.Context(), "r1")
		require.NoError(t, err)
		require.True(t, shown.Finished)
		require.JSONEq(t, `{"n": 9007199254740993}`, string(shown.Output))

		var actors []string
		for _, e := range events(t, c, "r1") {
			if e.Actor != "" {
				actors = append(actors, e.Type+" by "+e.Actor+" "+e.Reason)
			}
		}
		require.Equal(t, []string{"message.received by ann ", "decision.received by ann signed"}, actors)
	})
}

func TestEveryCommandNamesItsActorInTheJournal(t *testing.T) {
	bothWays(t, func(t *testing.T, e *coordinator.Engine, c *folder.Client) {
		start(t, e, "r1")
		for _, w := range []struct {
			req  api.Request
			want string
		}{
			{api.Request{Verb: api.Pause, Reason: "lunch"}, "run.paused"},
			{api.Request{Verb: api.Resume}, "run.resumed"},
			{api.Request{Verb: api.Abort, Step: "letter"}, "node.aborted"},
			{api.Request{Verb: api.Retry, Step: "letter"}, "run.reopened"}, // the abort has ended the run
		} {
			w.req.Run, w.req.Actor = "r1", "ann"
			_, err := c.Do(t.Context(), &w.req)
			require.NoError(t, err)
			list := events(t, c, "r1")
			found := false
			for _, e := range list {
				found = found || e.Type == w.want && e.Actor == "ann" && e.Reason == w.req.Reason
			}
			require.True(t, found, w.want)
		}
		start(t, e, "r2")
		_, err := c.Do(t.Context(), &api.Request{Verb: api.Cancel, Run: "r2", Actor: "ann"})
		require.NoError(t, err)
	})
}

func TestRefusalsKeepTheirMeaningAndChangeNothing(t *testing.T) {
	bothWays(t, func(t *testing.T, e *coordinator.Engine, c *folder.Client) {
		start(t, e, "r1")
		start(t, e, "r2")
		ended := start(t, e, "over")
		require.NoError(t, ended.Cancel(t.Context(), ""))
		_, err := ended.Wait(t.Context())
		require.NoError(t, err)
		before := [][]*api.Event{events(t, c, "r1"), events(t, c, "over")}
		ann := func(verb api.Verb, run string, more ...func(*api.Request)) *api.Request {
			r := &api.Request{Verb: verb, Run: run, Actor: "ann", Step: "letter", Message: "letter", Decision: api.Fulfilled}
			for _, change := range more {
				change(r)
			}
			return r
		}
		for _, c1 := range []struct {
			req  *api.Request
			is   error
			text string
		}{
			{ann(api.Send, "over"), coordinator.ErrFinished, "run over: the run has finished"},
			{ann(api.Decide, "over"), coordinator.ErrFinished, "run over: the run has finished"},
			{ann(api.Cancel, "over"), coordinator.ErrFinished, ""},
			{ann(api.Resume, "r1"), decide.ErrNotWorld, "run r1: only worlds have cells"},
			{ann(api.Resume, "r1", func(r *api.Request) { r.Step = "" }), coordinator.ErrNotPossible, "run r1: not possible as things stand: it is not paused"},
			{ann(api.Decide, "r1"), coordinator.ErrNotPossible, ""},
			{ann(api.Retry, "r1"), coordinator.ErrNotPossible, ""},
			{ann(api.Abort, "r1", func(r *api.Request) { r.Step = "leter" }), coordinator.ErrStepNotFound,
				`run r1: no such step: "leter" (did you mean "letter"?)`},
			{ann(api.Pause, "ovr"), coordinator.ErrRunNotFound, `no such run: ovr (did you mean "over"?)`},
			{ann(api.Pause, "r"), find.ErrAmbiguous, `the name matches several runs: "r": r1, r2`},
			{ann(api.Pause, ""), api.ErrBadRequest, "no run is named"},
			{ann(api.Pause, "r1", func(r *api.Request) { r.Actor = "" }), api.ErrBadRequest, "a command names its actor"},
			{ann(api.Pause, "r1", func(r *api.Request) { r.Actor = strings.Repeat("a", 257) }), api.ErrBadRequest, ""},
			{ann(api.Retry, "r1", func(r *api.Request) { r.Step = "" }), api.ErrBadRequest, ""},
			{ann(api.Send, "r1", func(r *api.Request) { r.Message = "" }), api.ErrBadRequest, ""},
			{ann(api.Send, "r1", func(r *api.Request) { r.Payload = []byte(`1e999`) }), api.ErrBadRequest, ""},
			{ann(api.Decide, "r1", func(r *api.Request) { r.Decision = "maybe" }), api.ErrBadRequest, ""},
			{ann(api.Show, "r1"), api.ErrBadRequest, `"show" is not a command`},
		} {
			_, err := c.Do(t.Context(), c1.req)
			require.ErrorIs(t, err, c1.is, "%+v", c1.req)
			if c1.text != "" {
				require.EqualError(t, err, c1.text)
			}
			_, ok := errors.AsType[*api.Error](err)
			require.True(t, ok, "%T", err)
		}
		require.Equal(t, before, [][]*api.Event{events(t, c, "r1"), events(t, c, "over")})
	})
}

func TestAMessageOfAKnownIDIsJournaledOnce(t *testing.T) {
	bothWays(t, func(t *testing.T, e *coordinator.Engine, c *folder.Client) {
		start(t, e, "r1")
		send := func(payload string) api.Done {
			done, err := c.Do(t.Context(), &api.Request{
				Verb: api.Send, Run: "r1", Message: "letter", Payload: []byte(payload), ID: "1", Actor: "ann",
			})
			require.NoError(t, err)
			return done
		}
		first := send(`"dear"`)
		await(t, c, "r1")
		before := events(t, c, "r1")
		require.Equal(t, first, send(`"dear"`))
		require.Equal(t, before, events(t, c, "r1"), "nothing more was journaled")
	})
}

func TestOfConcurrentDecisionsOneWins(t *testing.T) {
	bothWays(t, func(t *testing.T, e *coordinator.Engine, c *folder.Client) {
		run := start(t, e, "r1")
		require.NoError(t, run.Send(t.Context(), "letter", 1))
		await(t, c, "r1")
		errs := make([]error, 16)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				_, errs[i] = c.Do(t.Context(), &api.Request{
					Verb: api.Decide, Run: "r1", Step: "contract", Decision: api.Fulfilled, Actor: fmt.Sprint("a", i),
				})
			})
		}
		all.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			require.True(t, errors.Is(err, coordinator.ErrNotPossible) || errors.Is(err, coordinator.ErrFinished), "%v", err)
		}
		require.Equal(t, 1, won)
		decided := 0
		for _, e := range events(t, c, "r1") {
			if strings.HasPrefix(e.Type, "decision.") {
				decided++
			}
		}
		require.Equal(t, 1, decided)
	})
}

func TestRunsAreListedInOrderAndFoundByTheirBeginning(t *testing.T) {
	bothWays(t, func(t *testing.T, e *coordinator.Engine, c *folder.Client) {
		want := []string{"b", "abc", "abd", "ab", "x"}
		began := map[string]time.Time{}
		for _, id := range want {
			start(t, e, id)
			began[id] = events(t, c, id)[0].At
		}
		slices.SortFunc(want, func(a, b string) int { return cmp.Or(began[b].Compare(began[a]), cmp.Compare(a, b)) })
		var ids []string
		for r, err := range c.Runs(t.Context()) {
			require.NoError(t, err)
			require.Equal(t, "office", r.Workflow)
			ids = append(ids, r.Run)
		}
		require.Equal(t, want, ids, "the newest first")
		for name, want := range map[string]string{"ab": "ab", "abd": "abd", "x": "x"} {
			r, err := c.Show(t.Context(), name)
			require.NoError(t, err)
			require.Equal(t, want, r.Run)
		}
		_, err := c.Show(t.Context(), "a")
		require.EqualError(t, err, `the name matches several runs: "a": ab, abc, abd`)
	})
}

func TestAReaderMayStopAndGoOnWhereItWas(t *testing.T) {
	bothWays(t, func(t *testing.T, e *coordinator.Engine, c *folder.Client) {
		run := start(t, e, "r1")
		require.NoError(t, run.Cancel(t.Context(), "enough"))
		all := events(t, c, "r1")
		for range c.Watch(t.Context(), "r1", 1) {
			break
		}
		next := uint64(2)
		for u, err := range c.Watch(t.Context(), "r1", 2) {
			require.NoError(t, err)
			require.Equal(t, *all[next-1], u.Event)
			next++
		}
		require.EqualValues(t, len(all)+1, next)
	})
}

func TestPublishedNamesAreListedByHowTheyBegin(t *testing.T) {
	bothWays(t, func(t *testing.T, e *coordinator.Engine, c *folder.Client) {
		for _, name := range []string{"refund", "orders", "order"} {
			w, err := kinds.Load(name+".yaml", []byte("{kind: Workflow, name: "+name+", operations: {one: {value: 1}}, steps: [{operation: one}]}"), template.Known{})
			require.NoError(t, err)
			p, err := parcel.Of(t.Context(), e, w.Workflow)
			require.NoError(t, err)
			_, _, err = parcel.Publish(t.Context(), e, p, "ann")
			require.NoError(t, err)
		}
		for _, test := range []struct {
			begun string
			limit int
			want  []string
		}{{"", 0, []string{"order", "orders", "refund"}}, {"or", 0, []string{"order", "orders"}}, {"or", 1, []string{"order"}}, {"orderx", 0, nil}} {
			var names []string
			for name, err := range c.Published(t.Context(), test.begun, test.limit) {
				require.NoError(t, err)
				names = append(names, *name)
			}
			require.Equal(t, test.want, names, test.begun)
		}

		_, err := c.Do(t.Context(), &api.Request{Verb: api.Begin, Name: "ordr", Actor: "ann"})
		require.ErrorIs(t, err, parcel.ErrNotPublished)
		require.ErrorContains(t, err, `(did you mean "order"?)`)
	})
}
