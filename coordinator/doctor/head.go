package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template/plan"
)

// judge compares the head with the events, reports the differences, and with mend rebuilds the head. unread is the error of
// reading the head, or nil.
func (x *exam) judge(head journal.Head, unread error) error {
	if unread == nil && head.Last >= x.next && !x.torn {
		if err := x.damaged(missing(x.next, head.Last), nil); err != nil {
			return err
		}
	}
	if x.next == 1 && !x.torn {
		if unread != nil || head.Last == 0 {
			return x.strayHead(Fault{Run: x.id, What: "it has a head, but no events"})
		}
		return nil
	}
	if errors.Is(unread, journal.ErrVersion) {
		return x.fault(Fault{Kind: Head, What: "the head cannot be read: " + sentence(unread), Means: meansNewer})
	}
	want, err := x.wanted(head, unread == nil)
	if err != nil {
		return err
	}
	expected := want
	if unread == nil && head.Kind == "" {
		withoutKind(&expected)
	}
	unnamed(&expected, &head)
	x.forWorkers(&expected, &head)
	if head.Failed == expected.Failed+x.retrying() { // earlier versions of the program counted the steps to be retried, too
		expected.Failed = head.Failed
	}
	f := Fault{Kind: Head, Derived: true}
	switch differs := differences(&head, &expected); {
	case errors.Is(unread, disk.ErrNoHead):
		f.What, f.Means = "the head is missing", "the run is not listed and does not go on"
	case unread != nil:
		f.What, f.Means = "the head cannot be read: "+sentence(unread), "the run is parked and does not go on"
	case differs == "" || x.sleepsOn(&head, &expected):
		return nil
	default:
		f.What, f.Means = "the head differs from the events: "+differs, "lists show the run wrongly, and it may go on at the wrong time or not at all"
	}
	if x.mend {
		if err := x.raw.PutHead(want); err != nil {
			return fmt.Errorf("write the head of %s: %w", x.id, err)
		}
		f.Mended = "the head was made anew: " + want.Status
	}
	return x.fault(f)
}

// withoutKind removes from a head the kind of its run, and the fields that older programs, without this kind, did not write either.
func withoutKind(h *journal.Head) {
	h.Kind, h.Waits, h.Done, h.Total, h.Failed, h.Code, h.Ended = "", nil, 0, 0, 0, "", 0
}

// unnamed removes from the wanted head the steps of timers and gates if the present one has none, like the heads of older programs.
func unnamed(want, head *journal.Head) {
	want.Waits = slices.Clone(want.Waits)
	for i := range want.Waits {
		if w := &want.Waits[i]; i < len(head.Waits) && head.Waits[i].Step == "" && (w.Kind == journal.WaitTimer || w.Kind == journal.WaitGate) {
			w.Step = ""
		}
	}
	if len(head.Waits) == 1 && head.Waits[0] == (journal.Wait{Kind: journal.WaitGate}) {
		want.Waits = slices.Compact(want.Waits)
	}
}

// forWorkers adds the waits for workers of the present head, which no event records, to the wanted one if steps are ready.
func (x *exam) forWorkers(want, head *journal.Head) {
	for i := range head.Waits {
		w := &head.Waits[i]
		if w.Kind != journal.WaitWorker || x.root == nil || x.root.Paused() || len(want.Waits) == journal.WaitsMax {
			continue
		}
		if v, ok := x.root.Node(w.Step); ok && x.root.Row(v).OpKind == plan.Call && x.root.Operation(v).Name == w.Name &&
			(x.root.Status(v) == reactive.Ready || x.root.Pending(v)) {
			want.Waits = append(slices.Clip(want.Waits), *w)
		}
	}
}

// retrying returns the number of failed steps that are to be attempted again.
func (x *exam) retrying() (n int) {
	for v := int32(0); x.root != nil && v < x.root.Len(); v++ {
		if x.root.Status(v) == reactive.Failed && x.root.Pending(v) && x.root.Row(v).Kind == plan.Step {
			n++
		}
	}
	return n
}

// sleepsOn reports whether the heads differ only in the instant at which the run is due. Both are right: an engine may have applied
// the start or the last command of the run, or only journaled it.
func (x *exam) sleepsOn(head, want *journal.Head) bool {
	started := x.last.Type == journal.RunStarted
	if x.root == nil || !want.Open || !started && !decide.Noted(&x.last) {
		return false
	}
	other := *want
	if other.Due = x.root.NextDue(); started {
		other.Due = x.last.At
	}
	return differences(head, &other) == ""
}

// wanted returns the head that follows from the events. If statuses cannot be derived, it returns the present head, if that is
// readable, updated by single events.
func (x *exam) wanted(head journal.Head, readable bool) (want journal.Head, err error) {
	if x.root != nil {
		panicked := usercode.Call(func() error { want = decide.HeadAfter(x.root, &x.last); return nil })
		if want.Last, want.First = x.next-1, x.behind; panicked == nil {
			return want, nil
		}
		x.root = nil
		if err = x.fault(Fault{Kind: Run, What: "the state of the run cannot be derived: " + sentence(panicked), Means: meansUnderived}); err != nil {
			return want, err
		}
	}
	want = journal.Head{Run: x.id, Status: string(reactive.RunRunning), Updated: x.last.At, Open: true}
	if readable {
		want = head
		want.Run = x.id
	}
	want.Last = max(want.Last, x.next-1)
	if x.torn && !readable {
		want.Last = x.next // so that an engine finds the damage when it reads the run
	}
	if s := x.start; s != nil {
		want.Workflow, want.Name, want.Labels, want.Started, want.Moved = s.Workflow, s.Name, s.Labels, x.began, x.moved
	}
	if x.broken && readable {
		return want, nil // it includes the effects of lost events
	}
	x.setEnd(&want)
	return want, nil
}

// setEnd sets the end of the run by its last events.
func (x *exam) setEnd(want *journal.Head) {
	if !x.broken {
		want.Updated = x.last.At
	}
	switch {
	case x.ended != nil && x.last.Type == journal.RunFinished && !x.torn && x.ended.Detail != nil:
		want.Status, want.Open = x.ended.Detail.State, false
	case !want.Open:
		want.Status, want.Open = string(reactive.RunRunning), true
	}
}

// differences returns the fields in which a head differs from the wanted one, with both values; "" if they are equal.
func differences(head, want *journal.Head) string {
	var list []string
	field := func(name string, is, should any) {
		if is != should {
			list = append(list, fmt.Sprintf("%s %v, not %v", name, is, should))
		}
	}
	field("run", quote(head.Run), quote(want.Run))
	field("last event", head.Last, want.Last)
	field("workflow", quote(head.Name+" "+head.Workflow), quote(want.Name+" "+want.Workflow))
	field("status", quote(head.Status), quote(want.Status))
	field("started", instant(head.Started), instant(want.Started))
	field("updated", instant(head.Updated), instant(want.Updated))
	field("due", instant(head.Due), instant(want.Due))
	field("finished", !head.Open, !want.Open)
	field("moved by event", head.Moved, want.Moved)
	field("snapshot", head.Snapshot, want.Snapshot)
	if len(list) == 0 && !equal(head, want) {
		return "labels, progress, or what it waits for"
	}
	return strings.Join(list, ", ")
}

func equal(a, b *journal.Head) bool {
	left, leftErr := journal.AppendHead(nil, a)
	right, rightErr := journal.AppendHead(nil, b)
	return leftErr == nil && rightErr == nil && bytes.Equal(left, right)
}

// quote returns at most 80 characters of a text, in quotes and with escapes.
func quote(text string) string { return fmt.Sprintf("%.80q", text) }

func instant(at int64) string {
	if at == 0 {
		return "never"
	}
	return time.Unix(0, at).UTC().Format(time.RFC3339Nano)
}

// sentence returns the text of an error without the name of the package.
func sentence(err error) string {
	return strings.ReplaceAll(err.Error(), "journal: ", "")
}
