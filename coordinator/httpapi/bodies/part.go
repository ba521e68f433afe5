package bodies

import (
	"encoding/json"

	"github.com/sluiceflow/sluice/template/value"
)

// Part returns the part of a value to which a JSON pointer leads. It reports false if there is nothing; the error is about the pointer.
func Part(v json.RawMessage, text string) (part json.RawMessage, ok bool, err error) {
	pointer, err := value.ParsePointer(text)
	if err != nil {
		return nil, false, err
	}
	whole, err := value.ParseInput(v)
	if err != nil {
		return nil, false, err
	}
	found, err := pointer.Lookup(whole)
	if err != nil {
		return nil, false, nil
	}
	part, err = value.JSON(found)
	return part, err == nil, err
}
