package value

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/sluiceflow/sluice/internal/jsontext"
)

// fromNumber reads a number of a JSON text. It accepts whole floats of 20 or 21 digits from encoding/json, which writes them
// like integers.
func (w *walk) fromNumber(text string) (Value, error) {
	if w.from == marshaled {
		if f, ok := exactFloat(text); ok {
			return ofFloat(f) // -2⁶³ is an int64, though its shortest digits, -9223372036854776000, are not
		}
	}
	return ofNumber(text)
}

// exactFloat returns the float that encoding/json writes as text, if that is a whole number of at least 2⁶³, or of at most -2⁶³.
func exactFloat(text string) (float64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(f) < twoTo63 {
		return 0, false
	}
	return f, strconv.FormatFloat(f, 'f', -1, 64) == text
}

const twoTo63 = 1 << 63

// ofFloat returns an int64 for a whole number in [-2⁶³, 2⁶³), all of which convert without loss.
func ofFloat(f float64) (Value, error) {
	switch {
	case f == math.Trunc(f) && f >= -twoTo63 && f < twoTo63:
		return int64(f), nil
	case math.IsNaN(f) || math.IsInf(f, 0):
		return nil, &placeError{msg: fmt.Sprintf("is %v, which is not a number of the model", f)}
	}
	return f, nil
}

// ofFloat32 keeps the digits, as encoding/json does: float32(0.1) is 0.1, and not 0.10000000149011612.
func ofFloat32(f float32) (Value, error) {
	wide, err := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
	if err != nil {
		return nil, &placeError{msg: fmt.Sprintf("cannot be represented: %v", err)}
	}
	return ofFloat(wide)
}

// ofUint refuses numbers that would become negative or lose digits.
func ofUint(u uint64) (Value, error) {
	if u > math.MaxInt64 {
		return nil, errBeyondInt64()
	}
	return int64(u), nil
}

// ofNumber reads a number as JSON writes it.
func ofNumber(text string) (Value, error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i, nil
	}
	if isDigits(text) {
		return nil, errBeyondInt64()
	}
	if i, ok := jsontext.Whole(text); ok {
		return i, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, &placeError{msg: "has something that is not a number or out of range"}
	}
	return ofFloat(f)
}

// isDigits reports whether a number is an integer, without a fraction or an exponent.
func isDigits(text string) bool {
	digits := bytes.TrimLeft([]byte(text), "-")
	return len(digits) > 0 && len(bytes.Trim(digits, "0123456789")) == 0
}
