package keychain_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/template/secret"
	"github.com/sluiceflow/sluice/template/value"
)

// secretsOf returns a ring with secrets n0 and so on.
func secretsOf(t testing.TB, secrets ...string) *keychain.Ring {
	t.Helper()
	data := make([]string, len(secrets))
	for i, s := range secrets {
		t.Setenv(fmt.Sprint("SLUICE_", i), s)
		data[i] = fmt.Sprintf("n%d: SLUICE_%d", i, i)
	}
	r := ring(book(t, "keychain: [{name: k, kind: env, data: {"+strings.Join(data, ", ")+"}}]", ""))
	require.NoError(t, r.Resolve(t.Context()))
	return r
}

// escaped writes every character of a text as a JSON escape with these digits, in lower or upper case.
func escaped(text, digits string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, `\u`+digits, u)
	}
	return b.String()
}

// ascii returns a text with escapes for all characters that are not ASCII, in the form of most languages' JSON encoders.
func ascii(text string) string {
	quoted := strconv.QuoteToASCII(text)
	return quoted[1 : len(quoted)-1]
}

func inJSON(text string) string {
	data, _ := json.Marshal(text)
	return string(data[1 : len(data)-1])
}

func wrapped(text string, width int) string {
	var lines []string
	for ; len(text) > width; text = text[width:] {
		lines = append(lines, text[:width])
	}
	return strings.Join(append(lines, text), "\n")
}

// encodings holds the encodings in which a secret may appear in a text.
var encodings = map[string]func(string) string{
	"plain":           func(s string) string { return s },
	"JSON":            inJSON,
	"JSON in JSON":    func(s string) string { return inJSON(inJSON(s)) },
	"JSON, ASCII":     ascii,
	"JSON, lower":     func(s string) string { return escaped(s, "%04x") },
	"JSON, upper":     func(s string) string { return escaped(s, "%04X") },
	"JSON, slashes":   func(s string) string { return strings.ReplaceAll(inJSON(s), "/", `\/`) },
	"URL, path":       url.PathEscape,
	"URL, query":      url.QueryEscape,
	"URL, lower":      func(s string) string { return lower(url.QueryEscape(s)) },
	"URL, everything": func(s string) string { return "%" + strings.Join(pairsOf(hex.EncodeToString([]byte(s))), "%") },
	"URL in JSON":     func(s string) string { return inJSON(url.PathEscape(s)) },
	"JSON in a URL":   func(s string) string { return url.QueryEscape(inJSON(s)) },
	"HTML":            html.EscapeString,
	"hex":             func(s string) string { return hex.EncodeToString([]byte(s)) },
	"base64":          func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64, URL":     func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"base64, after 1": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u" + s + "u")) },
	"base64, after 2": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u:" + s)) },
	"base64, after 3": func(s string) string { return base64.URLEncoding.EncodeToString([]byte("us:" + s + "?!")) },
	"base64, in lines": func(s string) string {
		return wrapped(base64.StdEncoding.EncodeToString([]byte("us:"+s)), 20)
	},
	"lines, numbered": func(s string) string {
		lines := strings.Split(s, "\n")
		for i := range lines {
			lines[i] = fmt.Sprint(i, "  ", lines[i])
		}
		return strings.Join(lines, "\r\n")
	},
}

// lower writes the escapes of a URL in lower case.
func lower(text string) string {
	parts := strings.Split(text, "%")
	for i := 1; i < len(parts); i++ {
		parts[i] = strings.ToLower(parts[i][:2]) + parts[i][2:]
	}
	return strings.Join(parts, "%")
}

func pairsOf(text string) (list []string) {
	for ; text != ""; text = text[2:] {
		list = append(list, text[:2])
	}
	return list
}

// leaked returns a part of six bytes of a secret, encoded or not, that a text holds.
func leaked(text string, shown ...string) string {
	const part = 6
	for _, s := range shown {
		for i := 0; i+part <= len(s); i++ {
			if strings.Contains(text, s[i:i+part]) {
				return s[i : i+part]
			}
		}
	}
	return ""
}

func secretText() *rapid.Generator[string] {
	// The texts around secrets, marks and other encodings contain no six of these characters in a row.
	return rapid.StringMatching(`[QXZJ!&/"\\%+=éß€😀 ]{8,40}|([QXZJ!/é]{8,30}\n){2,4}|[QXZJ]{8,200}`)
}

// For a secret in any encoding, in a text that arrives in any parts and is cut anywhere afterwards.
func TestNoPartOfASecretIsShown(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		secrets := rapid.SliceOfN(secretText(), 1, 3).Draw(r, "secrets")
		hidden := secretsOf(t, secrets...)
		var text strings.Builder
		var shown []string // secrets that must not appear
		for _, s := range secrets {
			shown = append(shown, strings.Split(s, "\n")...)
		}
		for range rapid.IntRange(1, 4).Draw(r, "times") {
			secret := rapid.SampledFrom(secrets).Draw(r, "secret")
			name := rapid.SampledFrom(slices.Sorted(maps.Keys(encodings))).Draw(r, "encoding")
			text.WriteString(rapid.SampledFrom([]string{"", " ", "key: ", "\n", "<", `"`, "0"}).Draw(r, "before"))
			encoded := encodings[name](secret)
			text.WriteString(encoded)
			if name != "lines, numbered" { // the numbers are not secret
				shown = append(shown, encoded)
			}
			text.WriteString(rapid.SampledFrom([]string{" ", "\n", ";", `" `, "> "}).Draw(r, "after"))
		}
		plain := text.String()

		// As a stream, in parts.
		var out strings.Builder
		w := hidden.RedactStream(&out)
		for rest := plain; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(r, "part")
			_, err := io.WriteString(w, rest[:n])
			require.NoError(r, err)
			rest = rest[n:]
		}
		require.NoError(r, w.Close())
		require.Empty(r, leaked(out.String(), shown...), "%q of %q", out.String(), plain)
		require.Equal(r, out.String(), hidden.RedactText(plain))

		// As a value, in an error, and in the JSON of either.
		v := hidden.Redact(map[string]any{plain: []any{plain}})
		inJSON, err := value.JSON(v)
		require.NoError(r, err)
		f, _ := operation.FailureOf(hidden.RedactError(&operation.Error{Code: "c", Message: plain, Details: plain}))
		require.Empty(r, leaked(string(inJSON)+f.Message+fmt.Sprint(f.Details), shown...))
		require.Equal(r, out.String(), hidden.RedactText(out.String()), "redacted text does not change")

		// A stream that ends anywhere.
		out.Reset()
		w = hidden.RedactStream(&out)
		_, err = io.WriteString(w, secrets[0][:rapid.IntRange(0, len(secrets[0])).Draw(r, "end")])
		require.NoError(r, err)
		require.NoError(r, w.Close())
		require.Empty(r, leaked(out.String(), shown...))
	})
}

// A long text is searched in parts, and a secret, or an escape in it, that spans two parts is found.
func TestALongTextIsRedactedInParts(t *testing.T) {
	plain := `QX\Zé/` + strings.Repeat("JQ", 10)
	hidden := secretsOf(t, plain)
	mark := secret.Mark("k", "n0")
	for i, name := range slices.Sorted(maps.Keys(encodings)) {
		t.Run(name, func(t *testing.T) {
			encoded, between := encodings[name](plain), strings.Repeat(".", 5+i)
			n := 600_000/len(encoded+between) + 1
			var out strings.Builder
			w := hidden.RedactStream(&out)
			_, err := io.WriteString(w, strings.Repeat(encoded+between, n))
			require.NoError(t, err)
			require.NoError(t, w.Close())
			require.Equal(t, n, strings.Count(out.String(), mark))
			require.Empty(t, leaked(out.String(), encoded[6:len(encoded)-6]))
		})
	}
}

// A text that ends with dots was cut: the beginning of a secret before the dots is redacted.
func TestTheBeginningOfASecretInACutTextIsRedacted(t *testing.T) {
	hidden := secretsOf(t, "QXZJQXZJ-1", "another-secret")
	mark := secret.Mark("k", "n0")
	require.Equal(t, "bad: "+mark+"…, and "+mark+"…", hidden.RedactText("bad: QXZJQX…, and QXZJQXZJ…"))
	require.Equal(t, "bad: QXZJQ…", hidden.RedactText("bad: QXZJQ…"), "too short to recognize")
	require.Equal(t, "QXZJQXZJ", hidden.RedactText("QXZJQXZJ"), "the text is not marked as cut")
}

func TestOverlappingSecretsAreRedacted(t *testing.T) {
	hidden := secretsOf(t, "QXZJ-abcd", "abcd-ZZZZZZ", "keychain")
	require.Equal(t, "<"+secret.Mark("k", "n0")+secret.Mark("k", "n1")+">", hidden.RedactText("<QXZJ-abcd-ZZZZZZ>"))
	once := hidden.RedactText("my keychain")
	require.Equal(t, "my "+secret.Mark("k", "n2"), once)
	require.Equal(t, once, hidden.RedactText(once), "marks do not change")
}

func TestTheSizeOfASecretIsBounded(t *testing.T) {
	t.Setenv("SLUICE_0", strings.Repeat("x", 64<<10+1))
	r := ring(book(t, "keychain: [{name: k, kind: env, data: {n0: SLUICE_0}}]", ""))
	require.ErrorContains(t, r.Resolve(t.Context()), "k: n0: it has more than 65536 bytes")
}

// BenchmarkRedact measures a secret of maximum size with many lines.
func BenchmarkRedact(b *testing.B) {
	lines := make([]string, 64)
	for i := range lines {
		lines[i] = fmt.Sprintf("%064x", i*7919)
	}
	b.Setenv("SLUICE_0", strings.Join(lines, "\n"))
	r := ring(book(b, "keychain: [{name: k, kind: env, data: {n0: SLUICE_0}}]", ""))
	require.NoError(b, r.Resolve(b.Context()))
	text := strings.Repeat(`{"name": "a value", "path": "a\/b"}`+"\n", 100_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.RedactText(text)
	}
}

// Of a secret that is a URL, the parts that clients send separately are redacted, too.
func TestThePartsOfAURLAreRedacted(t *testing.T) {
	hidden, mark := secretsOf(t, "https://ann%40x:pa%20ssword@host.example/hooks/TOKEN?page=2&key=a%2Fbcdefg#fragment"), secret.Mark("k", "n0")
	for _, text := range []string{
		"ann%40x:pa%20ssword", "ann@x:pa ssword", "pa ssword", "/hooks/TOKEN", "/hooks/token", "page=2&key=a%2Fbcdefg", "a/bcdefg", "a%2Fbcdefg", "fragment",
		base64.StdEncoding.EncodeToString([]byte("ann@x:pa ssword")),
	} {
		require.Equal(t, "<"+mark+">", hidden.RedactText("<"+text+">"))
	}
	const link = "https://host.example/items?page=2"
	require.Equal(t, link, hidden.RedactText(link), "links stay usable")
	require.NotContains(t, hidden.RedactMessage("look up host.example"), "host.ex")
}

// An error shows no six bytes of half a secret; data is not changed.
func TestErrorsShowNoRemainsOfASecret(t *testing.T) {
	hidden, mark := secretsOf(t, "QXZJKVWY-abc/Second", "keychain"), secret.Mark("k", "n0")
	for text, want := range map[string]string{
		"lookup qxzjkvwy: no":        "lookup " + mark + ": no",
		`bad "\u0051XZJKVW"`:         `bad "` + mark + `"`,
		"c/seco SECOND":              mark + " " + mark,
		"QXZJK":                      "QXZJK",
		"QXZJKVWY-abc/Second QXZJKV": mark + " " + mark,
		"keycha":                     secret.Mark("k", "n1"),
		mark:                         mark,
		"":                           "",
	} {
		require.Equal(t, want, hidden.RedactMessage(text), text)
	}
	require.Equal(t, "lookup qxzjkvwy", hidden.RedactText("lookup qxzjkvwy"))
	f, _ := operation.FailureOf(hidden.RedactError(fmt.Errorf("lookup %s: no such host", "qxzjkvwy")))
	require.Equal(t, "lookup "+mark+": no such host", f.Message)
}

// numberText draws a number other than 0 in its JSON form, of either sign.
func numberText() *rapid.Generator[string] {
	return rapid.StringMatching(`-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,9})?([eE][+-]?[0-9]{1,2})?`).Filter(func(s string) bool {
		mantissa, _, _ := strings.Cut(strings.ToLower(s), "e")
		return len(s) >= keychain.MinLength && strings.Trim(mantissa, "-0.") != ""
	})
}

// written returns notations of the number digits times ten to a power.
func written(digits string, power int) []string {
	var list []string
	for point := -2; point <= len(digits)+2; point++ {
		text := strings.Repeat("0", max(0, 1-point)) + digits + strings.Repeat("0", max(0, point-len(digits)))
		at := max(1, point)
		rest := power + len(digits) - point
		for _, e := range []string{"e%d", "E%d", "e%+d", "E%+03d"} {
			list = append(list, strings.TrimSuffix(text[:at]+"."+text[at:], ".")+fmt.Sprintf(e, rest))
		}
		if rest == 0 {
			list = append(list, text[:at]+"."+text[at:]+"0", strings.TrimSuffix(text[:at]+"."+text[at:], "."))
		}
	}
	return list
}

// A secret that is a number is found by its value, with either sign, in every notation of a program.
func TestANumberIsFoundHoweverItIsWritten(t *testing.T) {
	mark := secret.Mark("k", "n0")
	rapid.Check(t, func(r *rapid.T) {
		plain := numberText().Draw(r, "secret")
		hidden := secretsOf(t, plain)
		exact, ok := new(big.Rat).SetString(plain)
		require.True(r, ok)
		f, _ := exact.Float64()
		values := []value.Value{f, -f}
		if v, err := value.ParseInput([]byte(plain)); err == nil {
			values = append(values, v)
		}
		if exact.IsInt() && exact.Num().IsInt64() {
			values = append(values, exact.Num().Int64(), -exact.Num().Int64())
		}
		for _, v := range values {
			if v, err := value.Of(v); err == nil && len(value.Text(v)) >= keychain.MinLength {
				require.Equal(r, map[string]any{"n": []any{mark}}, hidden.Redact(map[string]any{"n": []any{v}}), value.Text(v))
			}
		}
		texts := []string{plain}
		for _, format := range "eEfgG" {
			texts = append(texts, strconv.FormatFloat(f, byte(format), -1, 64))
		}
		mantissa, exponent, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(plain, "-")), "e")
		power, _ := strconv.Atoi(exponent)
		whole, fraction, _ := strings.Cut(mantissa, ".")
		digits := strings.TrimLeft(whole+fraction, "0")
		power += len(digits) - len(strings.TrimRight(digits, "0")) - len(fraction)
		if digits = strings.TrimRight(digits, "0"); len(digits) >= 6 {
			texts = append(texts, written(digits, power)...)
		}
		for _, text := range texts {
			if len(strings.Trim(text, "-")) < keychain.MinLength {
				continue
			}
			n, ok := new(big.Rat).SetString(text)
			require.True(r, ok, text)
			back, _ := n.Float64()
			require.Equal(r, f*f, back*back, "%q is %q", text, plain)
			require.Regexp(r, `^\{"n": -?[0.]*(`+regexp.QuoteMeta(mark)+`)+[0.]*([eE]?[+-]?[0-9]{1,3})?}$`, hidden.RedactText(`{"n": `+text+`}`), "%q of %q", text, plain)
		}
	})
}

func TestOtherNumbersAreLeftAlone(t *testing.T) {
	hidden := secretsOf(t, "-12345678", "1.00", "0.000", "-0e10", "1e999999999", "+-12", "12e+", "....", "-...", "1e22")
	same := map[string]any{"n": []any{int64(1), int64(0), 0.5, int64(1234567), int64(12), int64(22), 1e21}}
	require.Equal(t, same, hidden.Redact(same))
	require.Equal(t, "0.1 12 1e21 1234567", hidden.RedactText("0.1 12 1e21 1234567"))
}
