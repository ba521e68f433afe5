package registry

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

var english = message.NewPrinter(language.English)

// placeOf returns the JSON pointer to the value that a violation is about; / for the whole.
func placeOf(v *jsonschema.ValidationError) string {
	if len(v.InstanceLocation) == 0 {
		return "/"
	}
	return value.Pointer(v.InstanceLocation).String()
}

// describe returns the reason of a violation. It is the library's text, except where that text shows null as <nil>, the same
// number as the refused and as the required one, or digits of a large integer that it does not have.
func describe(v *jsonschema.ValidationError) string {
	switch k := v.ErrorKind.(type) {
	case *kind.FalseSchema:
		return "no value is allowed here"
	case *kind.Enum:
		return "value must be " + oneOf(k.Want)
	case *kind.Const:
		return "value must be " + oneOf([]any{k.Want})
	case *kind.Minimum:
		return "must be at least " + number(k.Want) + ", not " + number(k.Got)
	case *kind.Maximum:
		return "must be at most " + number(k.Want) + ", not " + number(k.Got)
	case *kind.ExclusiveMinimum:
		return "must be greater than " + number(k.Want) + ", not " + number(k.Got)
	case *kind.ExclusiveMaximum:
		return "must be less than " + number(k.Want) + ", not " + number(k.Got)
	case *kind.MultipleOf:
		return "must be a multiple of " + number(k.Want) + ", not " + number(k.Got)
	}
	return v.ErrorKind.LocalizedString(english)
}

// oneOf describes the values that a schema allows, as JSON.
func oneOf(list []any) string {
	if len(list) == 0 {
		return "one of an empty list, so none is allowed"
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = document.Clip(value.Text(v))
		if s, isText := v.(string); isText {
			texts[i] = document.Quote(s)
		}
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "one of " + strings.Join(texts, ", ")
}

// number returns a number as it would be written in a document.
func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}
