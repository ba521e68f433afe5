package bodies

import "encoding/json"

// Bodies of requests about runs.
type (
	// ReasonBody says why something is done.
	ReasonBody struct {
		Reason string `json:"reason,omitempty"` // for people, and journaled
	}

	// MessageBody is a message to a run.
	MessageBody struct {
		Name    string          `json:"name"`              // of the message
		Payload json.RawMessage `json:"payload,omitempty"` // any JSON; default: null
	}

	// PatchBody writes to the context of a playbook's run.
	PatchBody struct {
		Changes json.RawMessage `json:"changes"`          // an object of values by path
		Reason  string          `json:"reason,omitempty"` // for people, and journaled
	}

	// DecideBody decides whether a step's task is done.
	DecideBody struct {
		Decision string          `json:"decision"`          // fulfilled or not_fulfilled
		Reason   string          `json:"reason,omitempty"`  // for people, and journaled
		Payload  json.RawMessage `json:"payload,omitempty"` // any JSON, journaled; default: null
	}

	// RetryBody attempts a step again.
	RetryBody struct {
		Work   bool `json:"work,omitempty"`    // repeat the work even if only the decision about it is open
		NewKey bool `json:"new_key,omitempty"` // with an idempotency key that no call had before
	}

	// SweepBody selects the events that a world keeps.
	SweepBody struct {
		Events int `json:"events,omitempty"` // so many of the newest events at least; negative: all; 0: as the server is configured
	}

	// EmptyBody is a body without keys.
	EmptyBody struct{}
)
