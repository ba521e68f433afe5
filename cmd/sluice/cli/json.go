package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/sluiceflow/sluice/template/value"
)

// NewJSON returns an encoder that writes to w, on the way to out. Where out is a terminal, characters that could command it
// are escaped, which leaves the values what they are. HTML is not escaped.
func NewJSON(w, out io.Writer) *json.Encoder {
	if IsTerminal(out) {
		w = escaped{w}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// ValueJSON returns a value as JSON, or, where it has no such form, the error as a JSON string. Values of a journal always have one.
func ValueJSON(v any) json.RawMessage {
	data, err := value.JSON(v)
	if err != nil {
		data, _ = json.Marshal(err.Error())
	}
	return data
}

// escaped writes JSON in which every character that cannot be printed is escaped. Each Write gets whole values.
type escaped struct{ to io.Writer }

func (e escaped) Write(text []byte) (int, error) {
	var b strings.Builder
	for _, r := range string(text) {
		switch {
		case unicode.IsPrint(r), r == '\n', r == '\t':
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	if _, err := io.WriteString(e.to, b.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}
