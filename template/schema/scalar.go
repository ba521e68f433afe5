package schema

import (
	"strconv"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template/duration"
)

// normalText returns the normal form of a text of a plain type, or what it must be.
func normalText(k Kind, text string) (normal, wrong string) {
	switch k {
	case Bytes:
		return normalBytes(text)
	case Time:
		return normalTime(text)
	case Duration:
		return normalDuration(text)
	case Hash:
		return normalHash(text)
	case UUID:
		return normalUUID(text)
	case Dec128:
		return normalDecimal(text)
	}
	return text, ""
}

// normalKey returns the normal form of a key of a map, or what it must be.
func normalKey(k Kind, key string) (normal, wrong string) {
	switch k {
	case Int, Nat:
		n, err := strconv.ParseInt(key, 10, 64)
		if err != nil {
			return "", "must be an integer of 64 bits in decimal"
		}
		if n < 0 && k == Nat {
			return "", "must be at least 0"
		}
		return strconv.FormatInt(n, 10), ""
	}
	return normalText(k, key)
}

// normalBytes checks padded base64 of the standard alphabet (RFC 4648, section 4), whose unused bits are zero, so that
// equal bytes have one text.
func normalBytes(text string) (normal, wrong string) {
	const must = "must be base64, padded with ="
	if len(text)%4 != 0 {
		return "", must
	}
	digits := strings.TrimRight(text, "=")
	if len(text)-len(digits) > 2 {
		return "", must
	}
	last := byte(0)
	for i := range len(digits) {
		if last = base64Digit(digits[i]); last > 63 {
			return "", must
		}
	}
	switch len(text) - len(digits) {
	case 1:
		if last&0b11 != 0 {
			return "", must + " after bits that are 0"
		}
	case 2:
		if last&0b1111 != 0 {
			return "", must + " after bits that are 0"
		}
	}
	return text, ""
}

// base64Digit returns the value of a digit; more than 63 for other characters.
func base64Digit(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c - 'A'
	case 'a' <= c && c <= 'z':
		return c - 'a' + 26
	case '0' <= c && c <= '9':
		return c - '0' + 52
	case c == '+':
		return 62
	case c == '/':
		return 63
	}
	return 255
}

// normalTime reads RFC 3339 and writes it in UTC.
func normalTime(text string) (normal, wrong string) {
	const must = "must be a time such as 2027-01-31T12:00:00Z"
	var t time.Time
	if len(text) > len("2006-01-02T15:04:05.999999999-07:00") {
		return "", must + ", with at most 9 digits of a second"
	}
	if err := t.UnmarshalText([]byte(text)); err != nil {
		return "", must
	}
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return "", must + ", in the years 0 to 9999 of UTC"
	}
	var out [40]byte
	if b := t.AppendFormat(out[:0], time.RFC3339Nano); string(b) != text {
		return string(b), ""
	}
	return text, ""
}

func normalDuration(text string) (normal, wrong string) {
	d, err := duration.Parse(text)
	if err != nil {
		return "", "must be a duration such as PT30S, PT5M or P1DT12H"
	}
	return duration.Format(d), ""
}

func normalHash(text string) (normal, wrong string) {
	digits, ok := strings.CutPrefix(text, "sha256:")
	if !ok || len(digits) != 64 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", "must be sha256: and 64 digits in lower case"
	}
	return text, ""
}

// normalUUID reads the form of RFC 9562.
func normalUUID(text string) (normal, wrong string) {
	const must = "must be a UUID such as f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
	if len(text) != 36 {
		return "", must
	}
	for i := range len(text) {
		c := text[i] | 0x20
		switch i {
		case 8, 13, 18, 23:
			if text[i] != '-' {
				return "", must
			}
		default:
			if isDigit := '0' <= text[i] && text[i] <= '9'; !isDigit && (c < 'a' || c > 'f') {
				return "", must
			}
		}
	}
	return strings.ToLower(text), ""
}
