package bulk

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// The states in the records of acts: journal.Detail.State.
const (
	recordAsked    = "asked"    // in the index: an act has begun
	recordStopping = "stopping" // in the index: it is to stop
	recordHow      = "how"      // first, of a rerun and a move: its other options
	recordChosen   = "chosen"   // the next of its runs
	recordBegun    = "begun"    // all its runs are chosen
	recordDone     = "done"     // the outcomes of the next of its runs
)

// Sizes of records.
const (
	chunkBytes = 24 << 10 // of the ids and steps in one record; the last may take it beyond
	chunkBatch = 64       // records in one append
)

func record(state string, now int64, value any, d journal.Detail) journal.Event {
	d.State = state
	return journal.Event{Type: journal.BulkRecorded, At: now, Value: value, Detail: &d}
}

func damaged(e *journal.Event) error {
	return fmt.Errorf("%w: entry %d of an act on many runs is of no known form", journal.ErrDamaged, e.Seq)
}

// asked is the value of the record of an act.
func (a *Act) value() any {
	m := map[string]any{"verb": a.Verb, "where": a.Where, "count": int64(a.Expect)}
	if a.How != "" {
		m["how"] = a.How
	}
	return m
}

// actOf decodes the record of an act.
func actOf(e *journal.Event) (Act, error) {
	m, _ := e.Value.(map[string]any)
	verb, isVerb := m["verb"].(string)
	where, isWhere := m["where"].(string)
	count, isCount := m["count"].(int64)
	how, _ := m["how"].(string)
	if !isVerb || !isWhere || !isCount || count < 0 || count > RunsMax {
		return Act{}, damaged(e)
	}
	return Act{Verb: verb, Where: where, How: how, Expect: int(count), Reason: e.Detail.Reason, Actor: e.Detail.Actor}, nil
}

// ending is the value of the record of an act that has ended.
func (s *Status) ending() any {
	return map[string]any{"id": int64(s.ID), "done": int64(s.Done), "already": int64(s.Already), "refused": int64(s.Refused)}
}

// idOf decodes the id in a record about an act that is not its first.
func idOf(e *journal.Event) (uint64, bool) {
	m, _ := e.Value.(map[string]any)
	id, ok := m["id"].(int64)
	return uint64(id), ok && id > 0
}

// end takes the counts from the record of the act's end.
func (s *Status) end(e *journal.Event) error {
	m, _ := e.Value.(map[string]any)
	for name, to := range map[string]*int{"done": &s.Done, "already": &s.Already, "refused": &s.Refused} {
		n, ok := m[name].(int64)
		if !ok || n < 0 || n > RunsMax {
			return damaged(e)
		}
		*to = int(n)
	}
	s.State, s.Ended = State(e.Detail.State), e.At
	return nil
}

// chunks returns the records of the runs that an act has chosen.
func chunks(targets []target, now int64) (list []journal.Event) {
	var values []any
	bytes := 0
	flush := func() {
		if len(values) > 0 {
			list = append(list, record(recordChosen, now, values, journal.Detail{}))
			values, bytes = nil, 0
		}
	}
	for _, t := range targets {
		values, bytes = append(values, t.value()), bytes+len(t.run)
		for _, step := range t.steps {
			bytes += len(step)
		}
		if bytes >= chunkBytes {
			flush()
		}
	}
	flush()
	return append(list, record(recordBegun, now, nil, journal.Detail{}))
}

func (t *target) value() any {
	if len(t.steps) == 0 {
		return t.run
	}
	steps := make([]any, len(t.steps))
	for i, step := range t.steps {
		steps[i] = step
	}
	return map[string]any{"run": t.run, "steps": steps}
}

// targetsOf decodes a record of chosen runs.
func targetsOf(e *journal.Event) (list []target, err error) {
	values, ok := e.Value.([]any)
	for _, v := range values {
		t := target{}
		switch v := v.(type) {
		case string:
			t.run = v
		case map[string]any:
			t.run, _ = v["run"].(string)
			steps, _ := v["steps"].([]any)
			for _, step := range steps {
				text, isText := step.(string)
				t.steps, ok = append(t.steps, text), ok && isText
			}
		}
		list, ok = append(list, t), ok && t.run != ""
	}
	if !ok {
		return nil, damaged(e)
	}
	return list, nil
}

// outcomesValue returns the value of the record of a slice: the number of runs, and the outcomes that are not Done, or Done with a reason.
func outcomesValue(outcomes []Outcome) any {
	but := []any{}
	for i, o := range outcomes {
		if o.Result != Done || o.Why != "" {
			but = append(but, []any{int64(i), string(o.Result), o.Why})
		}
	}
	return map[string]any{"count": int64(len(outcomes)), "but": but}
}

// outcomesOf decodes the record of a slice. It has no names of runs.
func outcomesOf(e *journal.Event) ([]Outcome, error) {
	m, _ := e.Value.(map[string]any)
	count, ok := m["count"].(int64)
	but, isList := m["but"].([]any)
	if !ok || !isList || count < 1 || count > RunsMax {
		return nil, damaged(e)
	}
	list := make([]Outcome, count)
	for i := range list {
		list[i].Result = Done
	}
	for _, one := range but {
		row, _ := one.([]any)
		if len(row) != 3 {
			return nil, damaged(e)
		}
		i, isIndex := row[0].(int64)
		result, isResult := row[1].(string)
		why, isWhy := row[2].(string)
		if !isIndex || !isResult || !isWhy || i < 0 || i >= count {
			return nil, damaged(e)
		}
		list[i] = Outcome{Result: Result(result), Why: why}
	}
	return list, nil
}

// Check returns the fault of an event of a stream of acts.
func Check(stream string, e *journal.Event) error {
	if e.Type != journal.BulkRecorded || e.Detail == nil {
		return damaged(e)
	}
	if stream == journal.BulkIndex() {
		return (&index{}).apply(e, true)
	}
	var err error
	switch e.Detail.State {
	case recordHow:
		_, err = (&Act{}).decodeHow(e)
	case recordChosen:
		_, err = targetsOf(e)
	case recordDone:
		_, err = outcomesOf(e)
	case recordBegun:
	default:
		err = damaged(e)
	}
	return err
}
