package registry

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// InputError reports where a run's input violates the schema of its workflow. Each fault names the place as a JSON pointer.
type InputError struct {
	Workflow string   // name
	Faults   []string // at least one, such as `/lines/0: got string, want number`
}

func (e *InputError) Error() string {
	return "input of " + e.Workflow + ": " + strings.Join(e.Faults, "; ")
}

// InputSchema validates the input of a workflow; nil accepts anything.
type InputSchema struct {
	name    string
	schema  *jsonschema.Schema
	routing checker // nil: none
}

// checker is a routing that refuses some of the inputs that the schema accepts.
type checker interface {
	CheckInput(input value.Value) error
}

// SchemaOf compiles the schema of a workflow's input; nil if it has none. A workflow with a checker has one.
func SchemaOf(w *template.Workflow) (*InputSchema, error) {
	if w.Input == nil {
		return nil, nil
	}
	data, err := value.JSON(w.Input)
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource(schemaBase, doc); err != nil {
		return nil, schemaFaults(w, err)
	}
	s, err := c.Compile(schemaBase)
	if err != nil {
		return nil, schemaFaults(w, err)
	}
	routing, _ := w.Routing.(checker)
	return &InputSchema{w.Name, s, routing}, nil
}

// noLoader refuses schemas from elsewhere: a definition stands alone.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a schema must not refer to %s", url)
}

// Check returns all violations of the schema as an *InputError.
func (s *InputSchema) Check(input value.Value) error {
	_, err := s.CheckWithin(input, math.MaxInt)
	return err
}

// stepWork is the work of a step of a validation: see expr.Meter.
const stepWork = 20

// CheckWithin is Check, but refuses an input if its validation would take more than the given work. It returns the spent work, which is
// then greater.
func (s *InputSchema) CheckWithin(input value.Value, work int) (spent int, err error) {
	if s == nil {
		return 0, nil
	}
	data, err := value.JSON(input)
	if err != nil {
		return 0, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	steps, err := checkCost(s.schema, doc, work/stepWork)
	spent = (steps + 1) * stepWork
	if err != nil {
		return spent, &InputError{Workflow: s.name, Faults: []string{err.Error()}}
	}
	err = s.schema.Validate(doc)
	if err == nil {
		return spent, s.checkRouting(input)
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return spent, err
	}
	e := &InputError{Workflow: s.name}
	e.collect(invalid)
	return spent, e
}

func (s *InputSchema) checkRouting(input value.Value) error {
	if s.routing == nil {
		return nil
	}
	if err := s.routing.CheckInput(input); err != nil {
		return &InputError{Workflow: s.name, Faults: strings.Split(err.Error(), "\n")}
	}
	return nil
}

// faultsMax bounds the faults of one input that are listed.
const faultsMax = 100

// collect adds the innermost causes: the enclosing ones do not help the user.
func (e *InputError) collect(v *jsonschema.ValidationError) {
	if len(v.Causes) == 0 {
		e.Faults = append(e.Faults, document.Clip(placeOf(v))+": "+document.Clip(describe(v)))
		return
	}
	for _, c := range v.Causes {
		if len(e.Faults) < faultsMax {
			e.collect(c)
		}
	}
}

// CheckInput checks an input against a workflow's schema. It returns the violations as an *InputError. It is for drivers of a
// Stepper, which start runs themselves.
func CheckInput(w *template.Workflow, input value.Value) error {
	s, err := SchemaOf(w)
	if err != nil {
		return err
	}
	return s.Check(input)
}
