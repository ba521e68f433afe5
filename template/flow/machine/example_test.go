package machine_test

import (
	"fmt"

	"github.com/sluiceflow/sluice/template/flow/machine"
	world "github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/machine/attempt"
)

type Rung struct {
	Door string `json:"door"`
}

type Bell struct {
	Times int `json:"times"`
}

// A machine counts how often the bell of a door has rung.
func Example() {
	bells := machine.Define("bell", "1", func(a *machine.Activation[string], s *Bell, e Rung) (*Bell, error) {
		if s == nil {
			s = &Bell{}
		}
		s.Times++
		return s, nil
	})
	house := machine.World("house", bells, machine.Subscribe("Rung", bells, "door"))

	rung := world.Event{Kind: world.Message, Name: "Rung", Value: map[string]any{"door": "front"}}
	out, err := attempt.Step(house, "bell[front]", map[string]any{"times": 2}, rung)
	if err != nil {
		fmt.Println(err)
		return
	}
	bell, err := machine.StateOf[Bell](out.State)
	fmt.Println(bell.Times, err)
	// Output: 3 <nil>
}

// A step fails its cell with a code of its own.
func ExampleFail() {
	doors := machine.Define("door", "1", func(a *machine.Activation[string], s *Bell, e Rung) (*Bell, error) {
		return nil, machine.Fail("no_such_door", a.Key()+" has no bell")
	})
	house := machine.World("house", doors, machine.Subscribe("Rung", doors, "door"))
	_, err := attempt.Step(house, "door[back]", nil, world.Event{Kind: world.Message, Name: "Rung", Value: map[string]any{"door": "back"}})
	fmt.Println(err)
	// Output: no_such_door: back has no bell
}
