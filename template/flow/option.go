package flow

import (
	"time"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// StepOption sets a property of a step besides its input.
type StepOption interface {
	step(s *template.Step, d *definition)
}

type stepOption func(s *template.Step, d *definition)

func (o stepOption) step(s *template.Step, d *definition) { o(s, d) }

// timingOption returns a StepOption that changes a step's timing, which it makes if necessary.
func timingOption(set func(t *template.Timing)) StepOption {
	return stepOption(func(s *template.Step, _ *definition) {
		if s.Timing == nil {
			s.Timing = &template.Timing{Pos: s.Pos}
		}
		set(s.Timing)
	})
}

// Timeout bounds each attempt of a step.
func Timeout(d time.Duration) StepOption {
	return timingOption(func(t *template.Timing) { t.Timeout = d })
}

// TotalTimeout bounds all attempts of a step together, with the time between them.
func TotalTimeout(d time.Duration) StepOption {
	return timingOption(func(t *template.Timing) { t.TotalTimeout = d })
}

// QueueTimeout bounds the time for which a step's call waits for a worker.
func QueueTimeout(d time.Duration) StepOption {
	return timingOption(func(t *template.Timing) { t.QueueTimeout = d })
}

// OnTimeout sets the effect of a timeout after the last attempt. Default: template.FailOnTimeout.
func OnTimeout(o template.OnTimeout) StepOption {
	return timingOption(func(t *template.Timing) { t.OnTimeout = o })
}

// Retry makes a step's call again after a failure.
func Retry(r template.Retry) StepOption {
	return timingOption(func(t *template.Timing) {
		t.Retry = &r
		t.Retry.Pos = t.Pos
	})
}

// Needs makes a step wait for others, besides those whose results it reads and those before it.
func Needs(steps ...Placed) StepOption {
	return stepOption(func(s *template.Step, d *definition) {
		for _, needed := range steps {
			h := placedOf(needed)
			if h == nil {
				d.refuseNil("a handle")
				continue
			}
			d.mention(h, s.Pos)
			s.Needs = append(s.Needs, h.id)
		}
	})
}

// Target sets the participants that a step asks.
func Target(t template.Target) StepOption {
	return stepOption(func(s *template.Step, _ *definition) { t.Pos = s.Pos; s.Target = &t })
}

// FanIn sets how the answers of several participants become the step's result.
func FanIn(f template.FanIn) StepOption {
	return stepOption(func(s *template.Step, _ *definition) { f.Pos = s.Pos; s.FanIn = &f })
}

// Fulfillment sets how a completed call is judged to have fulfilled its task.
func Fulfillment(f template.Fulfillment) StepOption {
	return stepOption(func(s *template.Step, _ *definition) { f.Pos = s.Pos; s.Fulfillment = &f })
}

// NonIdempotent marks a step whose call must not be made again: one under way at a crash fails with code interrupted.
func NonIdempotent() StepOption {
	return stepOption(func(s *template.Step, _ *definition) { s.NonIdempotent = true })
}

// EachOption sets a property of a map besides its list and body.
type EachOption interface{ each(m *template.Map) }

// MaxConcurrency bounds how many steps run at the same time: of a Parallel, of all items of an Each together, or of the
// whole run. It is at least 1.
type MaxConcurrency int

func (n MaxConcurrency) each(m *template.Map) { m.MaxConcurrency = int(n) }
func (MaxConcurrency) inParallel()            {}
func (MaxConcurrency) inWorkflow()            {}
func (n MaxConcurrency) set(d *definition)    { d.workflow.MaxConcurrency = int(n) }

// As is the name of a map's item in expressions and documents. Default: item, and item2, item3, … in maps within maps.
type As string

func (name As) each(m *template.Map) { m.As = string(name) }

// Part is an argument of Define: a Node, MaxConcurrency, a Setting, or an Output.
type Part interface{ inWorkflow() }

// Setting sets a property of the whole workflow.
type Setting func(d *definition)

func (Setting) inWorkflow() {}
func (s Setting) set(d *definition) {
	if s == nil {
		d.refuseNil("a setting")
		return
	}
	s(d)
}

// Version is shown to people. The identity of a workflow is its hash.
func Version(text string) Setting {
	return func(d *definition) { d.workflow.Version = text }
}

// Deadline bounds the whole run, from its first call.
func Deadline(limit time.Duration) Setting {
	return func(d *definition) { d.workflow.Deadline = limit }
}

// OnFailure sets the effect of a final failure on steps that are running. Default: template.ContinueRunning.
func OnFailure(p template.FailurePolicy) Setting {
	return func(d *definition) { d.workflow.FailurePolicy = p }
}

// Schema sets the JSON Schema of the run's input, a map or a boolean. Inputs are checked before anything starts.
func Schema(schema value.Value) Setting {
	return func(d *definition) { d.workflow.Input = schema }
}

// Bind sets the binding of an operation that is not implemented in Go: such as a command, an HTTP request or a pause.
func Bind(operation string, b template.Binding) Setting {
	pos := here()
	return func(d *definition) { d.bind(pos, operation, b) }
}

// Directory sets the participants that can be targeted.
func Directory(directory template.Directory) Setting {
	return func(d *definition) { d.workflow.Directory = &directory }
}

// RunOutput is the part of a definition that Output returns: the output of its runs.
type RunOutput[T any] struct{ arg argument }

// Output sets the output of the run. Default: the run has none.
func Output[T any](v Arg[T]) RunOutput[T] { return RunOutput[T]{argOf(v)} }

func (RunOutput[T]) inWorkflow() {}

func (o RunOutput[T]) set(d *definition) {
	if d.output != nil {
		d.fault(o.arg.pos, "", "the workflow has two outputs")
	}
	d.output = &o.arg
}
