package registry

import (
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The cost of a validation in steps; a step tries one subschema on one value. The maximum grows with the input, so that a schema
// that tries each value a few times is always accepted.
const (
	schemaStepsMax      = 1_000_000
	schemaStepsPerValue = 16
	schemaDepthMax      = 10_000 // nested subschemas: the stack grows with them
)

var errSchemaCost = errors.New("the schema costs too much")

// cost computes an upper bound of the steps of a validation before it begins: a schema that refers to itself twice at each
// level doubles the steps with each level, and the library would try all of them.
type cost struct{ left, depth int }

// checkCost returns the steps of validating an input, and an error if they are too many, or more than left.
func checkCost(s *jsonschema.Schema, input any, left int) (steps int, err error) {
	most := min(schemaStepsMax+schemaStepsPerValue*values(input), left)
	c := &cost{left: most}
	c.schema(s, input)
	steps = most - max(c.left, -1)
	if c.depth > schemaDepthMax {
		return steps, fmt.Errorf("%w: its subschemas nest deeper than %d for this input; let none refer to itself for the same value", errSchemaCost, schemaDepthMax)
	}
	if c.left < 0 {
		return steps, fmt.Errorf("%w: more than %d steps for this input; let fewer alternatives refer to each other", errSchemaCost, most)
	}
	return steps, nil
}

func values(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			n += values(e)
		}
	case []any:
		for _, e := range v {
			n += values(e)
		}
	}
	return n
}

func (c *cost) schema(s *jsonschema.Schema, v any) {
	if c.left--; s == nil || c.left < 0 {
		return
	}
	if c.depth++; c.depth > schemaDepthMax {
		c.left = -1 // depth stays above its maximum, as the reason
		return
	}
	c.within(s, v)
	if c.left >= 0 {
		c.depth--
	}
}

// within counts the steps of a schema's subschemas.
func (c *cost) within(s *jsonschema.Schema, v any) {
	c.each(v, s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else, s.ContentSchema)
	if s.DynamicRef != nil {
		c.schema(s.DynamicRef.Ref, v)
	}
	c.each(v, s.AllOf...)
	c.each(v, s.AnyOf...)
	c.each(v, s.OneOf...)
	for _, sub := range s.DependentSchemas {
		c.schema(sub, v)
	}
	for _, sub := range s.Dependencies {
		c.any(sub, v)
	}
	switch v := v.(type) {
	case map[string]any:
		c.object(s, v)
	case []any:
		c.array(s, v)
	}
}

func (c *cost) object(s *jsonschema.Schema, object map[string]any) {
	for key, v := range object {
		if c.left < 0 {
			return
		}
		if sub, ok := s.Properties[key]; ok {
			c.schema(sub, v)
		}
		for _, sub := range s.PatternProperties {
			c.schema(sub, v)
		}
		c.any(s.AdditionalProperties, v)
		c.some(s.UnevaluatedProperties, v)
		c.some(s.PropertyNames, key)
	}
}

func (c *cost) array(s *jsonschema.Schema, list []any) {
	for i, v := range list {
		if c.left < 0 {
			return
		}
		if i < len(s.PrefixItems) {
			c.schema(s.PrefixItems[i], v)
		}
		if items, ok := s.Items.([]*jsonschema.Schema); ok && i < len(items) {
			c.schema(items[i], v)
		}
		c.any(s.Items, v)
		c.any(s.AdditionalItems, v)
		for _, sub := range []*jsonschema.Schema{s.Items2020, s.Contains, s.UnevaluatedItems} {
			c.some(sub, v)
		}
	}
}

func (c *cost) each(v any, list ...*jsonschema.Schema) {
	for _, s := range list {
		c.some(s, v)
	}
}

// some counts a subschema unless it is nil. any does the same for keywords whose value may also be a boolean or a list of names.
func (c *cost) some(s *jsonschema.Schema, v any) {
	if s != nil && c.left >= 0 {
		c.schema(s, v)
	}
}

func (c *cost) any(sub, v any) {
	if s, ok := sub.(*jsonschema.Schema); ok {
		c.some(s, v)
	}
}
