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

// NewJSON returns an encoder that writes to w; out is the final destination of the output. If out is a terminal, the encoder escapes
// control characters, which does not change the values. It does not escape HTML.
func NewJSON(w, out io.Writer) *json.Encoder {
	if IsTerminal(out) {
		w = escapingWriter{w}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// ValueJSON returns a value as JSON, or, if it cannot be encoded, the error as a JSON string. Values of a journal can always be encoded.
func ValueJSON(v any) json.RawMessage {
	data, err := value.JSON(v)
	if err != nil {
		data, _ = json.Marshal(err.Error())
	}
	return data
}

// escapingWriter writes JSON with escapes for all characters that cannot be printed. Each Write must have whole values.
type escapingWriter struct{ to io.Writer }

func (e escapingWriter) Write(text []byte) (int, error) {
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
