package document

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/internal/jsontext"
)

// The number forms of the YAML 1.2 core schema (section 10.3.2 of its specification). The underscores, binary numbers and
// base-60 numbers of YAML 1.1 are texts, and a leading zero has no meaning: 010 is 10, not 8.
var (
	decimalForm = regexp.MustCompile(`^[-+]?[0-9]+$`)
	radixForm   = regexp.MustCompile(`^0(?:o[0-7]+|x[0-9a-fA-F]+)$`)
	floatForm   = regexp.MustCompile(`^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$`)
	endlessForm = regexp.MustCompile(`^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
)

// resolve returns the value of a plain scalar by the core schema. It reports false for a number that JSON cannot express.
func resolve(text string) (value any, kind Kind, ok bool) {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return nil, Null, true
	case "true", "True", "TRUE":
		return true, Bool, true
	case "false", "False", "FALSE":
		return false, Bool, true
	}
	// Most scalars are words: a check of the first character avoids matching the patterns.
	if c := text[0]; (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' {
		return text, String, true
	}
	switch {
	case decimalForm.MatchString(text):
		return number(text)
	case radixForm.MatchString(text):
		if i, err := strconv.ParseInt(text, 0, 64); err == nil {
			return i, Int, true
		}
		return nil, Null, false
	case floatForm.MatchString(text):
		return number(text)
	case endlessForm.MatchString(text):
		return nil, Null, false
	}
	return text, String, true
}

// number returns the value of a decimal number: an int64 if it is whole and fits, otherwise a float64. An integer that does
// not fit is refused rather than rounded.
func number(text string) (value any, kind Kind, ok bool) {
	if decimalForm.MatchString(text) {
		i, err := strconv.ParseInt(text, 10, 64)
		return i, Int, err == nil
	}
	if i, ok := jsontext.Whole(text); ok {
		return i, Int, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, Null, false
	}
	if f == math.Trunc(f) && -1<<63 <= f && f < 1<<63 {
		return int64(f), Int, true
	}
	return f, Float, true
}

// numberFault returns the message about a number that is refused.
func numberFault(text string) string {
	form := "integer %s does not fit into 64 bits: put it in quotes"
	switch {
	case decimalForm.MatchString(text):
	case radixForm.MatchString(text) && text[1] == 'x':
		form = "hexadecimal number %s does not fit into 64 bits with its sign: put it in quotes"
	case radixForm.MatchString(text):
		form = "octal number %s does not fit into 64 bits with its sign: put it in quotes"
	case endlessForm.MatchString(text) && strings.EqualFold(text, ".nan"):
		form = "%s is not a number and cannot be a value: put it in quotes or write null"
	case endlessForm.MatchString(text):
		form = "%s is infinite and cannot be a value: put it in quotes or write null"
	default:
		form = "number %s is out of range (at most 1.8e308): put it in quotes"
	}
	return fmt.Sprintf(form, Quote(text))
}
