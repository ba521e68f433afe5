package machine

import (
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// scope holds the names of a rule's expressions. It implements expr.Env.
type scope struct {
	in    *Input
	meter *expr.Meter
	event value.Value // as the rule sees it
	state value.Value // the state before, until the rule has set the new one
}

// Name returns a variable.
func (s *scope) Name(name string) (value.Value, error) {
	switch name {
	case "state":
		return s.state, nil
	case "was":
		return s.in.State, nil
	case "event":
		return s.event, nil
	case "key":
		return s.in.Key, nil
	case "now":
		return instant(s.in.Now), nil
	case "cell":
		return map[string]any{"machine": s.in.Machine.Name, "key": s.in.Key}, nil
	}
	return nil, fmt.Errorf("there is no %s", name)
}

// Step returns an error: a world has no steps.
func (s *scope) Step(id string, _ expr.Field) (value.Value, error) {
	return nil, fmt.Errorf("there is no step %q", id)
}

// Meter returns the meter of the activation.
func (s *scope) Meter() *expr.Meter { return s.meter }

// instant returns nanoseconds since 1970 as RFC 3339.
func instant(nanos int64) string { return time.Unix(0, nanos).UTC().Format(time.RFC3339Nano) }

// payloadScope holds the names of an effect's payload: the output of the call.
type payloadScope struct {
	output value.Value
	meter  *expr.Meter
}

// Meter returns the meter of the event.
func (s payloadScope) Meter() *expr.Meter { return s.meter }

// Name returns the output.
func (s payloadScope) Name(string) (value.Value, error) { return s.output, nil }

// Step returns an error: a world has no steps.
func (s payloadScope) Step(id string, _ expr.Field) (value.Value, error) {
	return nil, fmt.Errorf("there is no step %q", id)
}
