// Package helper is impure only by what it calls.
package helper

import (
	"helper/deep"

	"github.com/sluiceflow/sluice/template/flow/machine"
)

// State and Event are those of the machines of the tests.
type (
	State struct {
		N     int
		Text  string
		Names []string
		Count map[string]int
	}
	Event struct{ Count map[string]int }
	Act   = machine.Activation[string]
)

// Greeting depends on the hour.
func Greeting(name string) string {
	if hour() < 12 {
		return "good morning, " + name
	}
	return "hello, " + name
}

func hour() int { return deep.Hour() }

// Total is pure.
func Total(list []int) int { return deep.Sum(list...) }

// Register passes a step on.
func Register(name string, step func(*Act, *State, Event) (*State, error)) *machine.Definition {
	return machine.Define(name, "1", step)
}

// Count changes its map through another function.
func Count(m map[string]int, key string) { deep.Fill(m, key) }

// Counter counts.
type Counter struct{ N int }

// Next changes the counter.
func (c *Counter) Next() int { c.N++; return c.N }
