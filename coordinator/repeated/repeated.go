// Package repeated detects from the journal that a request with an Idempotency-Key was already carried out, also after a restart of
// the server, which loses the stored answers.
package repeated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// ErrOther means that the key was used for another request.
var ErrOther = errors.New("repeated: another request was made with this key")

// Start is the start of a run as it was requested.
type Start struct {
	Name   string            // of a published workflow; "": Parcel has the workflow
	Parcel *parcel.Parcel    // the workflow that came with the request
	Input  json.RawMessage   // none is null
	Labels map[string]string // of the run
}

// Started reports whether the run of a key was started before. It returns ErrOther if the workflow, input or labels differ; a published
// workflow may be of any version.
func Started(ctx context.Context, engine *coordinator.Engine, id string, s Start) (bool, error) {
	run, err := engine.Run(ctx, id)
	if errors.Is(err, coordinator.ErrRunNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var input value.Value
	if len(s.Input) > 0 {
		if input, err = value.ParseInput(s.Input); err != nil {
			return false, nil // the start returns the reason
		}
	}
	for e, err := range run.Events(ctx, 1) {
		if err != nil {
			return false, err
		}
		if d := e.Detail.Start; d == nil || !s.of(d) || !maps.Equal(d.Labels, s.Labels) || differ(&e, input) {
			return false, ErrOther
		}
		return true, nil
	}
	return false, nil
}

// of reports whether a run is one of the workflow.
func (s *Start) of(d *journal.Start) bool {
	if s.Parcel != nil {
		return d.Workflow == s.Parcel.Workflow
	}
	return d.Name == s.Name
}

// Send sends a message to a run, and returns ErrOther if it was not taken because another message had its key.
func Send(ctx context.Context, run *coordinator.Run, key, name string, payload value.Value, send func() error) error {
	if key == "" {
		return send()
	}
	before, err := run.Last(ctx)
	if err == nil {
		err = send()
	}
	if err != nil {
		return err
	}
	return sent(ctx, run, key, before, name, payload)
}

// sent returns ErrOther if a message that was sent with a key was not journaled, because the run has one with that key and another name
// or payload. before is the number of the run's newest event before the message was sent.
func sent(ctx context.Context, run *coordinator.Run, key string, before uint64, name string, payload value.Value) error {
	e, err := find(ctx, run, key, before+1)
	if e != nil || err != nil {
		return err // it is new
	}
	e, err = find(ctx, run, key, 1)
	if e != nil && (e.Detail.Name != name || differ(e, payload)) {
		return other(e)
	}
	return err
}

// other returns the error about a message whose key an earlier message has.
func other(e *journal.Event) error {
	return fmt.Errorf("%w: #%d, the message %q with the id %q and other content; give this one an id of its own", ErrOther, e.Seq, e.Detail.Name, e.Detail.ID)
}

// SendToWorld sends a message to the run of a world, and returns ErrOther if it was not taken because another message had its id. If
// the event of that message has been trimmed, its content is not known, and its receipt is returned.
func SendToWorld(ctx context.Context, run *coordinator.Run, m cells.Message) (cells.Sent, error) {
	sent, err := run.SendMessage(ctx, m)
	if err != nil || m.ID == "" {
		return sent, err
	}
	for e, err := range run.Events(ctx, sent.Seq) {
		if err != nil {
			return cells.Sent{}, err
		}
		if e.Seq != sent.Seq {
			break
		}
		// The journal has the normal form. A message that has none is not the one that was taken.
		payload, err := run.NormalPayload(ctx, m.Name, m.Payload)
		if err != nil && !errors.Is(err, decide.ErrInvalidMessage) {
			return cells.Sent{}, err
		}
		if err != nil || e.Detail.Name != m.Name || differ(&e, payload) {
			return cells.Sent{}, other(&e)
		}
		break
	}
	return sent, nil
}

// find returns the message with a key; nil if the journal does not have it, or no longer has it.
func find(ctx context.Context, run *coordinator.Run, key string, from uint64) (*journal.Event, error) {
	for e, err := range run.Events(ctx, from) {
		if err != nil {
			return nil, err
		}
		if e.Type == journal.MessageReceived && e.Detail.ID == key {
			return &e, nil
		}
	}
	return nil, nil
}

// differ reports whether an event has another value.
func differ(e *journal.Event, now value.Value) bool {
	was, err := value.Of(e.Value)
	if err != nil {
		return true
	}
	_, differs := value.FirstDifference(was, now)
	return differs
}
