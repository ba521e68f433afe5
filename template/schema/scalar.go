package schema

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/template/duration"
)

// normalText returns the normal form of a text of a plain type.
func normalText(k Kind, text string) (normal string, f *Fault) {
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
	return text, nil
}

// normalKey returns the normal form of a key of a map.
func normalKey(k Kind, key string) (normal string, f *Fault) {
	switch k {
	case Int, Nat:
		n, err := strconv.ParseInt(key, 10, 64)
		if err != nil {
			return "", notText("an integer of 64 bits in decimal", key)
		}
		if n < 0 && k == Nat {
			return "", fault("must be at least 0")
		}
		return strconv.FormatInt(n, 10), nil
	case Text:
		if !utf8.ValidString(key) {
			return "", fault("is not valid UTF-8")
		}
	}
	return normalText(k, key)
}

// normalBytes checks padded base64 of the standard alphabet (RFC 4648, section 4), whose unused bits are zero, so that
// equal bytes have one text.
func normalBytes(text string) (normal string, f *Fault) {
	const must = "base64, padded with ="
	if len(text)%4 != 0 {
		return "", notText(must, text)
	}
	digits := strings.TrimRight(text, "=")
	if len(text)-len(digits) > 2 {
		return "", notText(must, text)
	}
	last := byte(0)
	for i := range len(digits) {
		if last = base64Digit(digits[i]); last > 63 {
			return "", notText(must, text)
		}
	}
	switch len(text) - len(digits) {
	case 1:
		if last&0b11 != 0 {
			return "", notText(must+", whose unused bits are 0", text)
		}
	case 2:
		if last&0b1111 != 0 {
			return "", notText(must+", whose unused bits are 0", text)
		}
	}
	return text, nil
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
func normalTime(text string) (normal string, f *Fault) {
	const must = "a time such as 2027-01-31T12:00:00Z"
	digits, ok := timeForm(text)
	if !ok {
		return "", notText(must, text)
	}
	if digits > 9 {
		return "", notText(must+", with at most 9 digits of a second", text)
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return "", notText(must, text)
	}
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return "", notText(must+", in the years 0 to 9999 of UTC", text)
	}
	var out [len(time.RFC3339Nano)]byte
	if b := t.AppendFormat(out[:0], time.RFC3339Nano); string(b) != text {
		return string(b), nil
	}
	return text, nil
}

// timeForm reports whether a text has the form of RFC 3339, and the number of digits of a second after the point. Package
// time reads more than that: a comma for the point, hours of one digit, and offsets of a hundred hours.
func timeForm(text string) (digits int, ok bool) {
	const date = "0000-00-00T00:00:00"
	if len(text) <= len(date) || !hasForm(text[:len(date)], date) {
		return 0, false
	}
	zone := text[len(date):]
	if zone[0] == '.' {
		rest := strings.TrimLeft(zone[1:], "0123456789")
		if digits = len(zone) - 1 - len(rest); digits == 0 {
			return 0, false
		}
		zone = rest
	}
	switch {
	case zone == "Z":
		return digits, true
	case hasForm(zone, "+00:00"), hasForm(zone, "-00:00"):
		return digits, zone[1:3] <= "23" && zone[4:] <= "59"
	}
	return 0, false
}

// hasForm reports whether a text has digits where form has zeros, and otherwise the bytes of form.
func hasForm(text, form string) bool {
	if len(text) != len(form) {
		return false
	}
	for i := range len(form) {
		isDigit := '0' <= text[i] && text[i] <= '9'
		if isDigit != (form[i] == '0') || !isDigit && text[i] != form[i] {
			return false
		}
	}
	return true
}

func normalDuration(text string) (normal string, f *Fault) {
	d, err := duration.Parse(text)
	if err != nil {
		return "", fault("%v", err)
	}
	return duration.Format(d), nil
}

func normalHash(text string) (normal string, f *Fault) {
	digits, ok := strings.CutPrefix(text, "sha256:")
	if !ok || len(digits) != 64 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", notText("sha256: and 64 digits in lower case", text)
	}
	return text, nil
}

// normalUUID reads the form of RFC 9562.
func normalUUID(text string) (normal string, f *Fault) {
	const must = "a UUID such as f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
	if len(text) != 36 {
		return "", notText(must, text)
	}
	for i := range len(text) {
		c := text[i] | 0x20
		switch i {
		case 8, 13, 18, 23:
			if text[i] != '-' {
				return "", notText(must, text)
			}
		default:
			if isDigit := '0' <= text[i] && text[i] <= '9'; !isDigit && (c < 'a' || c > 'f') {
				return "", notText(must, text)
			}
		}
	}
	return strings.ToLower(text), nil
}
