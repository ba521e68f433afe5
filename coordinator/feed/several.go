package feed

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
)

// SeveralMax bounds the individual runs that one observer follows.
const SeveralMax = 64

// Wanted names the runs that an observer of several follows.
type Wanted struct {
	Runs  []string // ids
	View  View     // of these; "": Steps
	Open  []string // keys of maps of these, see Options
	All   bool     // also the runs that a query selects
	Query string   // if All

	Nameless bool // heads have no names of awaited objects
}

// Several follows several runs, and the runs of a query, for one reader. It belongs to one goroutine.
//
// The id of each of its frames has its place in every one of them, so it resumes exactly behind the frame.
type Several struct {
	hub   *Hub
	list  []member // of the runs, and then that of the query
	turn  int      // the member that is asked first
	begin string   // of the ids
}

// member is one of several observers.
type member struct {
	poller
	run   string
	place string // id of its last frame; "": there was none
	ended bool
}

// poller is an observer that does not wait.
type poller interface {
	poll(ctx context.Context) (f Frame, grown <-chan struct{}, err error)
	Close()
}

// failed is the observer of a run that cannot be followed.
type failed struct{ err error }

func (f failed) poll(context.Context) (Frame, <-chan struct{}, error) { return Frame{}, nil, f.err }

func (failed) Close() {}

// Several observes several runs, from behind after, a former Frame.ID; "": from now on. A run that cannot be followed has a frame of
// KindError, and does not end the others. The observer must be closed.
func (h *Hub) Several(ctx context.Context, w Wanted, after string) (*Several, error) {
	if len(w.Runs) > SeveralMax {
		return nil, fmt.Errorf("%w: at most %d runs are followed at once", ErrNotShown, SeveralMax)
	}
	if _, err := newWants(w.View, w.Open); err != nil {
		return nil, err
	}
	places, err := w.places(after)
	if err != nil {
		return nil, err
	}
	var query member
	if w.All {
		query.place = places[len(w.Runs)]
		all, err := h.All(w.Query, query.place)
		if err != nil {
			return nil, err
		}
		all.nameless, query.poller = w.Nameless, all
	}
	s := &Several{hub: h, begin: w.begin()}
	for i, run := range w.Runs {
		s.list = append(s.list, h.member(ctx, run, &w, places[i]))
	}
	if w.All {
		s.list = append(s.list, query)
	}
	return s, nil
}

// member observes one of several runs, behind a place of it.
func (h *Hub) member(ctx context.Context, run string, w *Wanted, place string) member {
	m, o := member{run: run, place: place}, Options{View: w.View, Open: w.Open, Resume: place != ""}
	if place, m.ended = strings.CutSuffix(place, "e"); m.ended {
		return m
	}
	o.After, _ = strconv.ParseUint(place, 10, 64) // it is a number or ""
	observer, err := h.Run(ctx, run, o)
	if m.poller = observer; err != nil {
		m.poller = failed{err}
	}
	return m
}

// Next returns the next frame, as soon as there is one. When all runs have ended and there is no query, it returns io.EOF. If ctx ends, it
// returns the error of ctx, and can be called again.
func (s *Several) Next(ctx context.Context) (Frame, error) {
	for {
		var grown []<-chan struct{}
		for range s.list {
			m := &s.list[s.turn]
			s.turn = (s.turn + 1) % len(s.list)
			if m.ended {
				continue
			}
			f, more, err := m.poll(ctx)
			switch {
			case more != nil:
				grown = append(grown, more)
			case err == nil:
				return s.frameOf(m, f), nil
			case errors.Is(err, io.EOF):
				m.ended = true
			case m.run == "" || ctx.Err() != nil || errors.Is(err, coordinator.ErrShutdown):
				return f, err
			default:
				m.end()
				return s.frameOf(m, Frame{Kind: KindError, ID: m.place, Err: err}), nil
			}
		}
		if len(grown) == 0 {
			return Frame{}, io.EOF
		}
		if err := s.await(ctx, grown); err != nil {
			return Frame{}, err
		}
	}
}

// end marks a run that cannot be followed as ended.
func (m *member) end() { m.ended, m.place = true, strings.TrimSuffix(m.place, "e")+"e" }

// frameOf returns the frame of a member in its form for the reader: with the run, and with an id for all members.
func (s *Several) frameOf(m *member, f Frame) Frame {
	if f.Kind != KindError {
		m.place = f.ID
	}
	if f.Kind == KindEnd {
		m.end()
	}
	if f.Run = m.run; m.run != "" && f.Kind != KindSnapshot && f.Kind != KindError { // a snapshot names its run
		data := strconv.AppendQuote([]byte(`{"run":`), m.run)
		if len(f.Data) > len(`{}`) {
			data = append(data, ',')
		}
		f.Data = append(data, f.Data[1:]...)
	}
	f.ID = s.id()
	return f
}

// await returns when one of several may have more to show.
func (s *Several) await(ctx context.Context, grown []<-chan struct{}) error {
	if len(grown) == 1 {
		return s.hub.await(ctx, grown[0])
	}
	cases := []reflect.SelectCase{
		{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ctx.Done())}, {Dir: reflect.SelectRecv, Chan: reflect.ValueOf(s.hub.ctx.Done())},
	}
	for _, c := range grown {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(c)})
	}
	switch chosen, _, _ := reflect.Select(cases); chosen {
	case 0:
		return ctx.Err()
	case 1:
		return coordinator.ErrShutdown
	}
	return nil
}

// idMark begins the ids of several; the ids of one run are numbers.
const idMark = "f"

// begin returns the prefix of the ids of an observer of these, which detects ids of other runs or of another query.
func (w *Wanted) begin() string {
	of := fnv.New32a()
	for _, run := range w.Runs {
		of.Write([]byte(run + "\n"))
	}
	if w.All {
		of.Write([]byte("\n" + w.Query))
	}
	return idMark + strconv.FormatUint(uint64(of.Sum32()), 36) + "-"
}

// id returns the places of all, in their order: numbers of events, of one that has ended with an e, and the place in the change log.
func (s *Several) id() string {
	var b strings.Builder
	b.WriteString(s.begin)
	for i := range s.list {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.list[i].place)
	}
	return b.String()
}

// places reads an id of an observer of these: the places of the runs, and then that of the query.
func (w *Wanted) places(id string) ([]string, error) {
	n := len(w.Runs)
	if w.All {
		n++
	}
	if id == "" {
		return make([]string, n), nil
	}
	if _, _, err := Sequence(id); err == nil {
		return nil, fmt.Errorf("%w: the id %q is of the feed of one run: resume that, or begin without an id", ErrAhead, id)
	}
	id, found := strings.CutPrefix(id, w.begin())
	places := strings.SplitN(id, ".", max(n, 1))
	if !found || len(places) != n {
		return nil, fmt.Errorf("%w: the id %q is not of a feed of these runs and this query: begin without an id", ErrAhead, id)
	}
	for _, place := range places[:len(w.Runs)] {
		if _, err := strconv.ParseUint(strings.TrimSuffix(place, "e"), 10, 64); err != nil && place != "" && place != "e" {
			return nil, fmt.Errorf("%w: the id %q is not of a feed of these runs: begin without an id", ErrAhead, id)
		}
	}
	return places, nil
}

// Close ends the observer.
func (s *Several) Close() {
	for i := range s.list {
		if p := s.list[i].poller; p != nil {
			p.Close()
		}
	}
}
