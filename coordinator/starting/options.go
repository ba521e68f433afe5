// Package starting prepares the start of a run: it applies the options, checks the input, makes the first event, and finds the run that
// already has the id.
package starting

import (
	"errors"
	"fmt"
	"maps"

	"github.com/google/uuid"

	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// An Option changes how a run is started.
type Option interface{ apply(*Options) }

// Func is an Option that sets fields.
type Func func(*Options)

func (f Func) apply(o *Options) { f(o) }

// KeyOption is an Option of Start and of Run.Send.
type KeyOption string

func (k KeyOption) apply(o *Options) { o.Key = string(k) }

// Options are the options of a start.
type Options struct {
	ID       string            // of the run
	Key      string            // the id is derived from it
	Parent   string            // the call that starts a child run
	Labels   map[string]string // by which it is found
	Actor    string            // who starts it
	Act      string            // the act on many runs that starts it
	Dir      string            // of its programs
	Identity *journal.Identity // of its calls
	From     *journal.From     // of a rerun
	Kept     []journal.Event   // that follow its first event
	Past     *journal.Start    // start of the run whose past is in Kept; nil: Kept has the results that a rerun of steps keeps
	Began    int64             // of a rerun with a past: the instant of its first event

	named bool // the caller has chosen the id: it may exist
}

// Named reports whether the caller has chosen the id: it may exist.
func (o *Options) Named() bool { return o.named }

// Apply applies options, and checks them. The labels of a run that is rerun stay unchanged: earlier versions accepted others.
func (o *Options) Apply(opts []Option) error {
	kept := o.Labels
	for _, opt := range opts {
		if opt != nil {
			opt.apply(o)
		}
	}
	wrong := errors.Join(limits.CheckActor(o.Actor), limits.CheckKey(o.Key, o.ID))
	if maps.Equal(o.Labels, kept) {
		return wrong
	}
	return errors.Join(limits.CheckLabels(o.Labels), wrong)
}

// Complete checks the input of a run, which it returns in its normal form, and completes the options with the id.
func (o *Options) Complete(entry *registry.Entry, input any) (value.Value, error) {
	in, err := value.Own(input)
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	if err := entry.Schema.Check(in); err != nil {
		return nil, err
	}
	switch o.named = o.ID != "" || o.Key != ""; {
	case o.ID == "" && o.Key != "":
		o.ID = limits.IDOf(o.Key)
	case o.ID == "":
		id, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("make a run id: %w", err)
		}
		o.ID = id.String()
	}
	return in, limits.CheckID(o.ID)
}
