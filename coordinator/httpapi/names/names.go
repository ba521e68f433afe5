// Package names makes the ids that are specific to the HTTP API, and parses the names in requests. The form of the ids may change.
package names

import (
	"encoding/base64"
	"encoding/json"
)

// Decision names a task that a person is to decide about.
type Decision struct {
	Run, Step string // id of the run, and key of the step
	Attempt   int32  // of the step
}

func (id Decision) String() string {
	data, _ := json.Marshal([]any{id.Run, id.Step, id.Attempt})
	return base64.RawURLEncoding.EncodeToString(data)
}

// ParseDecision parses the result of String.
func ParseDecision(text string) (id Decision, ok bool) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &[]any{&id.Run, &id.Step, &id.Attempt})
	}
	return id, err == nil && id.String() == text
}
