package document

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// AppendYAML appends v to dst as a readable YAML document, from which Parse reads v again: block style, two spaces a level,
// short lists of scalars on one line, texts of several lines as blocks. In every mapping the keys in first come first, in that
// order, and all others follow in sorted order, so the same value always has the same text. v consists of the types that
// Node.Value returns: nil, bool, int64, float64, string, []any and map[string]any. AppendYAML returns an error and the
// unchanged dst if v contains another type, a float that is not finite or a text that is not UTF-8, or if v nests deeper than
// the default limit of Parse.
func AppendYAML(dst []byte, v any, first ...string) ([]byte, error) {
	w := &yamlWriter{out: dst, rank: make(map[string]int, len(first))}
	for i, key := range first {
		w.rank[key] = i - len(first) // negative, before the 0 of all others
	}
	if err := w.document(v); err != nil {
		return dst, fmt.Errorf("write YAML: %w", err)
	}
	return w.out, nil
}

// yamlWidth is the last column that a list on one line may reach.
const yamlWidth = 100

// yamlWriter is the state of one AppendYAML.
type yamlWriter struct {
	out  []byte
	rank map[string]int
}

// document writes the root, without indentation.
func (w *yamlWriter) document(v any) error {
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 {
			return w.mapping(v, 0)
		}
	case []any:
		if len(v) > 0 {
			return w.sequence(v, 0)
		}
	}
	return w.inline(v)
}

// below writes a value after its key, with its parts at the given indentation.
func (w *yamlWriter) below(v any, indent int) error {
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 {
			w.out = append(w.out, '\n')
			w.pad(indent)
			return w.mapping(v, indent)
		}
	case []any:
		if w.oneLine(v) {
			return nil
		}
		w.out = append(w.out, '\n')
		w.pad(indent)
		return w.sequence(v, indent)
	case string:
		if isBlock(v) {
			w.block(v, indent)
			return nil
		}
	}
	w.out = append(w.out, ' ')
	return w.inline(v)
}

// tooDeep returns an error if a value at an indentation exceeds the depth of values; each level has two spaces.
func tooDeep(indent int) error {
	if indent >= 2*depthDefault {
		return fmt.Errorf("it nests deeper than %d levels: %w", depthDefault, ErrLimit)
	}
	return nil
}

// mapping writes entries, the first on the current line.
func (w *yamlWriter) mapping(m map[string]any, indent int) error {
	if err := tooDeep(indent); err != nil {
		return err
	}
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if d := w.rank[a] - w.rank[b]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for i, key := range keys {
		if i > 0 {
			w.pad(indent)
		}
		text, err := scalarText(key)
		if err != nil {
			return err
		}
		w.out = append(append(w.out, text...), ':')
		if err := w.below(m[key], indent+2); err != nil {
			return fmt.Errorf("%s: %w", Quote(key), err)
		}
	}
	return nil
}

// sequence writes items, the first on the current line. An item that is a collection begins on the line of its dash.
func (w *yamlWriter) sequence(list []any, indent int) error {
	if err := tooDeep(indent); err != nil {
		return err
	}
	for i, item := range list {
		if i > 0 {
			w.pad(indent)
		}
		w.out = append(w.out, '-')
		var err error
		switch item := item.(type) {
		case map[string]any:
			w.out = append(w.out, ' ')
			if len(item) == 0 {
				err = w.inline(item)
			} else {
				err = w.mapping(item, indent+2)
			}
		default:
			err = w.below(item, indent+2)
		}
		if err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}

// inline writes a scalar or an empty collection on one line.
func (w *yamlWriter) inline(v any) error {
	text, err := scalarText(v)
	if err == nil {
		w.out = append(append(w.out, text...), '\n')
	}
	return err
}

// oneLine writes a list of scalars on the line of its key if it fits, and reports whether it did. An empty list fits.
func (w *yamlWriter) oneLine(list []any) bool {
	start := len(w.out) - 1
	for start >= 0 && w.out[start] != '\n' {
		start--
	}
	room := yamlWidth - (len(w.out) - start)
	line := " ["
	for i, item := range list {
		switch item := item.(type) {
		case map[string]any, []any:
			return false
		case string:
			if strings.Contains(item, "\n") {
				return false
			}
		}
		text, err := scalarText(item)
		if err != nil {
			return false // reported with its place when it is written as a block
		}
		if i > 0 {
			line += ", "
		}
		line += text
		if len(line) > room {
			return false
		}
	}
	w.out = append(append(w.out, line...), "]\n"...)
	return true
}

// block writes a text as a literal block.
func (w *yamlWriter) block(text string, indent int) {
	w.out = append(w.out, " |"...)
	if !strings.HasSuffix(text, "\n") {
		w.out = append(w.out, '-')
	}
	w.out = append(w.out, '\n')
	for line := range strings.Lines(text) {
		if line != "\n" {
			w.pad(indent)
		}
		w.out = append(w.out, line...)
	}
	if !strings.HasSuffix(text, "\n") {
		w.out = append(w.out, '\n')
	}
}

func (w *yamlWriter) pad(indent int) {
	for range indent {
		w.out = append(w.out, ' ')
	}
}

// isBlock reports whether a text is more readable as a literal block, and is read back unchanged: it has several lines, at most
// one trailing line end, and no indentation, trailing white space or characters that must be escaped.
func isBlock(text string) bool {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 2 || lines[0] == "" || lines[len(lines)-1] == "" || !utf8.ValidString(text) {
		return false
	}
	for _, line := range lines {
		if strings.TrimRight(line, " \t") != line || strings.ContainsFunc(line, isEscaped) {
			return false
		}
	}
	return lines[0][0] != ' ' && lines[0][0] != '\t'
}

// scalarText returns the text of a scalar or an empty collection.
func scalarText(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "null", nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return floatText(v)
	case string:
		if !utf8.ValidString(v) {
			return "", fmt.Errorf("text %s is not UTF-8", Quote(v))
		}
		if isPlain(v) {
			return v, nil
		}
		return quotedText(v), nil
	case []any:
		return "[]", nil
	case map[string]any:
		return "{}", nil
	}
	return "", fmt.Errorf("a %T cannot be written", v)
}

// floatText returns the shortest digits from which f is read again, with a point: readers of YAML 1.1 require one before an
// exponent.
func floatText(f float64) (string, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "", fmt.Errorf("%v is not a number that can be written", f)
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if mantissa, exponent, ok := strings.Cut(text, "e"); ok && !strings.Contains(mantissa, ".") {
		text = mantissa + ".0e" + exponent
	}
	return text, nil
}

// plainForm matches texts that need no quotes: words of letters, digits and marks without a meaning in YAML, separated by
// single spaces. YAML allows more texts without quotes, but these are obvious to people.
var plainForm = regexp.MustCompile(`^(?:[A-Za-z_]|(?:\.{0,2}/|\.)[A-Za-z0-9_])[A-Za-z0-9_/.+@-]*(?: [A-Za-z0-9_/.+@(][A-Za-z0-9_/.+@()-]*)*$`)

// isPlain reports whether a text may be written without quotes. Booleans of YAML 1.1 are quoted too, because other programs
// read these documents.
func isPlain(text string) bool {
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off":
		return false
	}
	if !plainForm.MatchString(text) {
		return false
	}
	_, kind, ok := resolve(text)
	return ok && kind == String
}

// quotedText returns a text in double quotes.
func quotedText(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case isEscaped(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isEscaped reports whether a character must be escaped: controls, the line ends of YAML 1.1, and the byte order mark.
func isEscaped(r rune) bool {
	return unicode.IsControl(r) && r != '\t' || r == '\u2028' || r == '\u2029' || r == '\ufeff'
}
