package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/template/value"
)

// InputMax bounds, in bytes, the JSON that ReadInput reads: the size of the largest value that is journaled.
const InputMax = 32 << 20

// ReadInput returns the value of a flag or argument: text is JSON, or @FILE for a file with JSON in it, or - for stdin, which
// is read to its end; "" is null. It refuses more than InputMax bytes, files that are not regular, and text that is not JSON.
func ReadInput(text string, stdin io.Reader) (value.Value, error) {
	data := []byte(text)
	var err error
	switch {
	case text == "":
		return nil, nil
	case text == "-":
		data, err = readfile.All(stdin, "standard input", InputMax)
	case strings.HasPrefix(text, "@"):
		data, err = readfile.Regular(text[1:], InputMax)
	}
	if err != nil {
		return nil, err
	}
	v, err := value.ParseInput(data)
	if err != nil && isWord(text) {
		text = Short(data)
		return nil, fmt.Errorf("%q is not JSON: write %s for a text, or @FILE for a file with JSON in it", text, Quote(strconv.Quote(text)))
	}
	return v, err
}

// isWord reports whether text does not begin like JSON, and is not @FILE.
func isWord(text string) bool {
	return text != "-" && !strings.ContainsAny(text[:1], "@{[\"-0123456789 \t\r\n")
}

// NewInput is ReadInput for a flag --input that replaces another input. It returns JSON, and refuses "", which is not JSON.
func NewInput(text string, stdin io.Reader) (json.RawMessage, error) {
	input, err := value.Value(nil), error(nil)
	if text == "" {
		_, err = value.ParseInput(nil)
	} else {
		input, err = ReadInput(text, stdin)
	}
	if err != nil {
		return nil, Refuse(fmt.Errorf("--input: %w", err))
	}
	return ValueJSON(input), nil
}
