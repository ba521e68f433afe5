package runs

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/api"
)

// step holds the parts of a cell.stepped event's value that are shown to people.
type step struct {
	Cause     uint64          `json:"cause"`
	Ignored   bool            `json:"ignored"`
	State     json.RawMessage `json:"state"`
	Completed bool            `json:"completed"`
	Dropped   []string        `json:"dropped"`
	Note      json.RawMessage `json:"note"`
	Raised    []struct {
		Event string   `json:"event"`
		Cells []string `json:"cells"`
	} `json:"raised"`
	Emitted []struct {
		Effect string `json:"effect"`
		Issuer string `json:"issuer"`
		Timer  string `json:"timer"`
	} `json:"emitted"`
}

// stepDetails returns the results of an activation as texts, from the value of its event.
//
//	took #12  state {"status":"paying"}  raised OrderPaid to ledger  asked for pay, timer.deadline
func stepDetails(text json.RawMessage) (list []string) {
	var s step
	if err := json.Unmarshal(text, &s); err != nil {
		return []string{cli.Short(text)}
	}
	list = append(list, fmt.Sprintf("took #%d", s.Cause))
	if s.Ignored {
		return append(list, "ignored")
	}
	switch {
	case string(s.State) == "null":
		list = append(list, "state deleted")
	case s.State != nil:
		list = append(list, "state "+cli.Short(s.State))
	}
	if len(s.Dropped) > 0 {
		list = append(list, "dropped "+strings.Join(s.Dropped, ", "))
	}
	for _, r := range s.Raised {
		list = append(list, raisedText(r.Event, r.Cells))
	}
	var asked []string
	for _, x := range s.Emitted {
		one := api.Intent{Effect: x.Effect, Issuer: x.Issuer}
		if x.Timer != "" {
			one = api.Intent{Effect: "timer", Issuer: x.Timer}
		}
		asked = append(asked, intentName(&one))
	}
	if len(asked) > 0 {
		list = append(list, "asked for "+strings.Join(asked, ", "))
	}
	if s.Note != nil {
		list = append(list, "noted "+cli.Short(s.Note))
	}
	if s.Completed {
		list = append(list, "completed")
	}
	return list
}

func raisedText(event string, cells []string) string {
	if len(cells) == 0 {
		return "raised " + event + ", without a subscriber"
	}
	return "raised " + event + " to " + strings.Join(cells, ", ")
}

// viewDetails returns the details of a view of a world as texts.
func viewDetails(v *api.View) (list []string) {
	add := func(name, text string) {
		if text != "" {
			list = append(list, name+text)
		}
	}
	call := v.Call
	if v.Attempt > 0 && call != "" {
		call += fmt.Sprintf("#%d", v.Attempt)
	}
	add("", v.Cell)
	add("", call)
	if v.Name != "" {
		add("", intentName(&api.Intent{Effect: v.Name, Issuer: v.Issuer}))
	}
	if v.Cause > 0 {
		add("", fmt.Sprintf("took #%d", v.Cause))
	}
	add("due ", cli.Local(v.Due))
	add("to ", strings.Join(v.Cells, ", "))
	add("", cli.Short(v.Value))
	return list
}
