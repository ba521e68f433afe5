package journal

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/internal/cborhead"
	"github.com/sluiceflow/sluice/template/value"
)

// Fields of a Detail, a Failure and a Start. The numbers are part of the stored format and are never reused.
const (
	detailStart        = 0
	detailFailure      = 1
	detailParticipant  = 2
	detailParticipants = 3
	detailTimer        = 4
	detailState        = 5
	detailName         = 6
	detailActor        = 7
	detailReason       = 8
	detailKey          = 9
	detailReceived     = 10
	detailDue          = 11
	detailRetryAt      = 12
	detailCount        = 13
	detailAbout        = 14 // bytes: the encoding of the value
	detailMaking       = 15
	detailWork         = 16
	detailCause        = 17
	detailID           = 18
	detailCells        = 19
	detailKept         = 20

	failureCode      = 0
	failureMessage   = 1
	failureDetails   = 2 // bytes: the encoding of the value
	failureRetryable = 3
	failureStep      = 4

	startRun            = 0
	startWorkflow       = 1
	startName           = 2
	startVersion        = 3
	startFailurePolicy  = 4
	startMaxConcurrency = 5
	startEngine         = 6
	startExpressions    = 7
	startFunctions      = 8
	startParent         = 9
	startLabels         = 10
	startActor          = 11
	startMapItemsMax    = 12
	startChildren       = 13
	startOnBlocked      = 14
	startIdentity       = 15
	startInstancesMax   = 16
	startContextMax     = 17
	startEventWorkMax   = 18
	startSeed           = 19
	startDir            = 20
	startFrom           = 21

	identityID        = 0
	identityScopes    = 1
	identityResources = 2 // bytes: the encoding of the value
)

func appendDetail(w *encoder, d *Detail) error {
	outer := w.begin()
	defer w.end(outer)
	if d.Start != nil {
		w.key(detailStart)
		if err := appendStart(w, d.Start); err != nil {
			return err
		}
	}
	if d.Failure != nil {
		w.key(detailFailure)
		if err := appendFailure(w, d.Failure); err != nil {
			return err
		}
	}
	w.text(detailParticipant, d.Participant)
	w.texts(detailParticipants, d.Participants)
	w.text(detailTimer, d.Timer)
	w.text(detailState, d.State)
	w.text(detailName, d.Name)
	w.text(detailActor, d.Actor)
	w.text(detailReason, d.Reason)
	w.text(detailKey, d.Key)
	w.int(detailReceived, d.Received)
	w.int(detailDue, d.Due)
	w.int(detailRetryAt, d.RetryAt)
	w.int(detailCount, int64(d.Count))
	if err := w.value(detailAbout, d.About); err != nil {
		return fmt.Errorf("metadata of the output: %w", err)
	}
	w.int(detailMaking, int64(d.Making))
	w.bool(detailWork, d.Work)
	w.text(detailCause, d.Cause)
	w.text(detailID, d.ID)
	w.texts(detailCells, d.Cells)
	if d.Kept != nil {
		w.key(detailKept)
		appendKept(w, d.Kept)
	}
	return nil
}

func (d *decoder) detail() *Detail {
	v := new(Detail)
	for key, n := -1, d.fields(); n > 0 && d.err == nil; n-- {
		key = d.key(key)
		switch key {
		case detailStart:
			v.Start = d.start()
		case detailFailure:
			v.Failure = d.failure()
		case detailParticipant:
			v.Participant = d.text()
		case detailParticipants:
			v.Participants = d.texts()
		case detailTimer:
			v.Timer = d.text()
		case detailState:
			v.State = d.text()
		case detailName:
			v.Name = d.text()
		case detailActor:
			v.Actor = d.text()
		case detailReason:
			v.Reason = d.text()
		case detailKey:
			v.Key = d.text()
		case detailReceived:
			v.Received = d.int()
		case detailDue:
			v.Due = d.int()
		case detailRetryAt:
			v.RetryAt = d.int()
		case detailCount:
			v.Count = d.int32()
		case detailAbout:
			v.About = d.value()
		case detailMaking:
			v.Making = d.int32()
		case detailWork:
			v.Work = d.bool()
		case detailCause:
			v.Cause = d.text()
		case detailID:
			v.ID = d.text()
		case detailCells:
			v.Cells = d.texts()
		case detailKept:
			v.Kept = d.kept()
		default:
			d.unknown(key)
		}
	}
	return v
}

func appendFailure(w *encoder, f *Failure) error {
	outer := w.begin()
	w.text(failureCode, f.Code)
	w.text(failureMessage, f.Message)
	if err := w.value(failureDetails, f.Details); err != nil {
		return fmt.Errorf("details of the failure: %w", err)
	}
	w.bool(failureRetryable, f.Retryable)
	w.text(failureStep, f.Step)
	w.end(outer)
	return nil
}

func (d *decoder) failure() *Failure {
	f := new(Failure)
	for key, n := -1, d.fields(); n > 0 && d.err == nil; n-- {
		key = d.key(key)
		switch key {
		case failureCode:
			f.Code = d.text()
		case failureMessage:
			f.Message = d.text()
		case failureDetails:
			f.Details = d.value()
		case failureRetryable:
			f.Retryable = d.bool()
		case failureStep:
			f.Step = d.text()
		default:
			d.unknown(key)
		}
	}
	return f
}

func (d *decoder) value() any {
	encoded := d.bytes()
	if d.err != nil {
		return nil
	}
	v, err := value.Decode(encoded)
	if err != nil {
		d.stop(fmt.Errorf("%w: %w", ErrDamaged, err))
	}
	return v
}

func appendStart(w *encoder, s *Start) error {
	outer := w.begin()
	defer w.end(outer)
	w.text(startRun, s.Run)
	w.text(startWorkflow, s.Workflow)
	w.text(startName, s.Name)
	w.text(startVersion, s.Version)
	w.text(startFailurePolicy, s.FailurePolicy)
	w.int(startMaxConcurrency, int64(s.MaxConcurrency))
	w.int(startEngine, int64(s.Engine))
	w.int(startExpressions, int64(s.Expressions))
	w.texts(startFunctions, s.Functions)
	w.text(startParent, s.Parent)
	if err := w.labels(startLabels, s.Labels); err != nil {
		return err
	}
	w.text(startActor, s.Actor)
	w.int(startMapItemsMax, int64(s.MapItemsMax))
	if err := w.labels(startChildren, s.Children); err != nil {
		return err
	}
	w.text(startOnBlocked, s.OnBlocked)
	if s.Identity != nil {
		w.key(startIdentity)
		if err := appendIdentity(w, s.Identity); err != nil {
			return err
		}
	}
	w.int(startInstancesMax, int64(s.InstancesMax))
	w.int(startContextMax, int64(s.ContextBytesMax))
	w.int(startEventWorkMax, int64(s.EventWorkMax))
	w.bytes(startSeed, s.Seed)
	w.text(startDir, s.Dir)
	if s.From != nil {
		w.key(startFrom)
		appendFrom(w, s.From)
	}
	return nil
}

func appendIdentity(w *encoder, id *Identity) error {
	outer := w.begin()
	w.text(identityID, id.ID)
	w.texts(identityScopes, id.Scopes)
	if err := w.value(identityResources, id.Resources); err != nil {
		return fmt.Errorf("resources of the identity: %w", err)
	}
	w.end(outer)
	return nil
}

func (d *decoder) identity() *Identity {
	id := new(Identity)
	for key, n := -1, d.fields(); n > 0 && d.err == nil; n-- {
		key = d.key(key)
		switch key {
		case identityID:
			id.ID = d.text()
		case identityScopes:
			id.Scopes = d.texts()
		case identityResources:
			id.Resources = d.value()
		default:
			d.unknown(key)
		}
	}
	return id
}

func (d *decoder) start() *Start {
	s := new(Start)
	for key, n := -1, d.fields(); n > 0 && d.err == nil; n-- {
		key = d.key(key)
		switch key {
		case startRun:
			s.Run = d.text()
		case startWorkflow:
			s.Workflow = d.text()
		case startName:
			s.Name = d.text()
		case startVersion:
			s.Version = d.text()
		case startFailurePolicy:
			s.FailurePolicy = d.text()
		case startMaxConcurrency:
			s.MaxConcurrency = d.int32()
		case startEngine:
			s.Engine = d.int32()
		case startExpressions:
			s.Expressions = d.int32()
		case startFunctions:
			s.Functions = d.texts()
		case startParent:
			s.Parent = d.text()
		case startLabels:
			s.Labels = d.labels()
		case startActor:
			s.Actor = d.text()
		case startMapItemsMax:
			s.MapItemsMax = d.int32()
		case startInstancesMax:
			s.InstancesMax = d.int32()
		case startContextMax:
			s.ContextBytesMax = d.int32()
		case startEventWorkMax:
			s.EventWorkMax = d.int32()
		case startSeed:
			s.Seed = slices.Clone(d.bytes())
		case startDir:
			s.Dir = d.text()
		case startFrom:
			s.From = d.from()
		case startChildren:
			s.Children = d.labels()
		case startOnBlocked:
			s.OnBlocked = d.text()
		case startIdentity:
			s.Identity = d.identity()
		default:
			d.unknown(key)
		}
	}
	return s
}

// labels writes a map in the order of its encoded keys. It refuses names that are not UTF-8, since replacing invalid bytes
// could make two names equal.
func (e *encoder) labels(key byte, labels map[string]string) error {
	if len(labels) == 0 {
		return nil
	}
	e.key(key)
	e.b = cborhead.Append(e.b, majorMap, uint64(len(labels)))
	for _, name := range slices.SortedFunc(maps.Keys(labels), compareKeys) {
		if !utf8.ValidString(name) {
			return fmt.Errorf("label %q is not UTF-8", name)
		}
		e.string(name)
		e.string(labels[name])
	}
	return nil
}

func (d *decoder) labels() map[string]string {
	n := d.length(majorMap)
	if n == 0 {
		d.fail("an empty field")
		return nil
	}
	labels := make(map[string]string, n)
	prev := ""
	for i := 0; i < n && d.err == nil; i++ {
		name := d.string()
		if i > 0 && compareKeys(prev, name) >= 0 {
			d.fail("labels are out of order")
		}
		prev, labels[name] = name, d.string()
	}
	return labels
}

// compareKeys compares texts by their encodings, which begin with the length.
func compareKeys(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
