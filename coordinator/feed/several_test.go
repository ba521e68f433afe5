package feed

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// seen has the events, ends and changes that an observer of several has seen.
type seen struct {
	events  map[string][]string // of each run
	ended   map[string]bool
	changed map[string]uint64 // newest event of the runs of the query
}

func (s *seen) take(t *testing.T, f Frame) {
	switch {
	case f.Run == "" && f.Kind == KindReady:
	case f.Run == "":
		for _, c := range decode[Changed](t, f).Runs {
			require.Greater(t, c.Seq, s.changed[c.Run])
			s.changed[c.Run] = c.Seq
		}
	case f.Kind == KindSnapshot:
		require.Empty(t, s.events[f.Run])
		require.Equal(t, f.Run, decode[Snapshot](t, f).Run)
		for range decode[Snapshot](t, f).Seq {
			s.events[f.Run] = append(s.events[f.Run], "")
		}
	case f.Kind == KindEnd:
		require.False(t, s.ended[f.Run])
		s.ended[f.Run] = true
	default:
		u := decode[struct {
			Run string
			Update
		}](t, f)
		require.Equal(t, f.Run, u.Run)
		require.Equal(t, uint64(len(s.events[f.Run])+1), u.From)
		for _, e := range u.Events {
			s.events[f.Run] = append(s.events[f.Run], fmt.Sprint(e.Event.Seq, " ", e.Event.Type))
		}
		require.Len(t, s.events[f.Run], int(u.Seq))
	}
}

func TestAnObserverOfSeveralThatIsKilledAndResumedGetsEachEventOnceAndInOrder(t *testing.T) {
	const steps = 100
	engine := newEngine(t, memory.New())
	hub, random, chain := newHub(t, engine), rand.New(rand.NewPCG(5, 6)), chain(t, steps)
	w := Wanted{View: Events, All: true, Query: "workflow:chain"}
	var runs []*coordinator.Run
	for i := range 3 {
		run, err := engine.Start(t.Context(), chain, nil, coordinator.WithID(fmt.Sprint("run-", i)))
		require.NoError(t, err)
		runs, w.Runs = append(runs, run), append(w.Runs, run.ID())
	}
	s, id := seen{map[string][]string{}, map[string]bool{}, map[string]uint64{}}, ""
	last := func() (done bool) {
		for _, run := range runs {
			n, err := run.Last(t.Context())
			require.NoError(t, err)
			if !s.ended[run.ID()] || s.changed[run.ID()] != n {
				return false
			}
		}
		return true
	}
	o, err := hub.Several(t.Context(), w, "") // without a place of the query it would begin with later changes
	require.NoError(t, err)
	for ready := false; !ready; {
		f, err := o.Next(t.Context())
		require.NoError(t, err)
		s.take(t, f)
		id, ready = f.ID, f.Kind == KindReady
	}
	o.Close()
	go func() {
		for i := range steps {
			for _, run := range runs {
				_ = run.Send(context.Background(), fmt.Sprint("m", i), i) // a message that is missing fails the test
			}
		}
	}()
	for killed := 0; killed < kills() || !last(); killed++ {
		if killed > 0 && last() { // once more
			s, id = seen{map[string][]string{}, map[string]bool{}, map[string]uint64{}}, ""
			for _, run := range runs { // that have ended, so that the query reports no more changes
				n, err := run.Last(t.Context())
				require.NoError(t, err)
				s.changed[run.ID()] = n
			}
		}
		o, err := hub.Several(t.Context(), w, id)
		require.NoError(t, err)
		for range 1 + random.IntN(8) {
			if last() {
				break
			}
			f, err := o.Next(t.Context())
			require.NoError(t, err)
			s.take(t, f)
			id = f.ID
		}
		o.Close()
	}
	for _, run := range runs {
		got := s.events[run.ID()]
		for i, e := range journaled(t, run) {
			require.Contains(t, []string{"", e}, got[i])
		}
	}
	require.Empty(t, hub.topics)
	require.Nil(t, hub.runs)
}

func TestARunThatCannotBeFollowedDoesNotEndTheOthers(t *testing.T) {
	engine := newEngine(t, memory.New())
	hub := newHub(t, engine)
	run, err := engine.Start(t.Context(), chain(t, 1), nil, coordinator.WithID("a"))
	require.NoError(t, err)
	o, err := hub.Several(t.Context(), Wanted{Runs: []string{"none", "a"}}, "")
	require.NoError(t, err)
	f, err := o.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, KindError, f.Kind)
	require.Equal(t, "none", f.Run)
	require.ErrorIs(t, f.Err, coordinator.ErrRunNotFound)
	f, err = o.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, KindSnapshot, f.Kind)
	send(t, run, 0, 1)
	for f.Kind != KindEnd {
		f, err = o.Next(t.Context())
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(f.Data), `{"run":"a"`), string(f.Data))
	}
	_, err = o.Next(t.Context())
	require.ErrorIs(t, err, io.EOF)
	o.Close()

	o, err = hub.Several(t.Context(), Wanted{Runs: []string{"none", "a"}}, f.ID)
	require.NoError(t, err)
	_, err = o.Next(t.Context())
	require.ErrorIs(t, err, io.EOF, "both have ended")
	o.Close()
	begin, _, found := strings.Cut(f.ID, "-")
	require.True(t, found)
	for _, id := range []string{"1", "1.2", "x.1", begin + "-1", begin + "-x.1", begin + "-1.2.3", begin + "--1.2", begin + "-e.e.e", begin + "-\x00.1", "f-1.2"} {
		_, err = hub.Several(t.Context(), Wanted{Runs: []string{"none", "a"}}, id)
		require.ErrorIs(t, err, ErrAhead, id)
	}
	one := Wanted{Runs: []string{"a"}}
	o, err = hub.Several(t.Context(), one, one.begin()+"99")
	require.NoError(t, err)
	defer o.Close()
	f, err = o.Next(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, f.Err, ErrAhead)
	_, err = hub.Several(t.Context(), Wanted{Runs: make([]string, SeveralMax+1)}, "")
	require.Error(t, err)
}
