package keychain

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// pieceMin is the minimum number of bytes of a line of a secret, or of the beginning of a cut secret, that is redacted by itself.
const pieceMin = 6

// form is a secret, or a line of it, as it may appear in a text without escapes.
type form struct {
	text, mark string
	inLines    bool // base64, which is often broken into lines
}

// formsOf returns the forms of a secret.
func formsOf(p pair) []form {
	var list []form
	for _, piece := range pieces(p.secret) {
		list = append(list, form{piece, p.mark, false})
		for _, text := range []string{hex.EncodeToString([]byte(piece)), strings.ToUpper(hex.EncodeToString([]byte(piece)))} {
			list = append(list, form{text, p.mark, false})
		}
		for _, text := range inBase64(piece) {
			list = append(list, form{text, p.mark, len(text) > 2*pieceMin})
		}
	}
	return slices.DeleteFunc(list, func(f form) bool { return len(f.text) < MinLength })
}

// pieces returns a secret as a whole, its lines, its parts if it is a URL, rewritten forms of these, and the spellings of those that are
// numbers: programs that print lines may number or indent them. Invalid UTF-8 ends a piece, because most writers replace it.
func pieces(secret string) []string {
	list := []string{secret}
	known := map[string]bool{secret: true}
	add := func(pieces ...string) {
		for _, piece := range pieces {
			if piece = strings.TrimSpace(piece); len(piece) >= pieceMin && !known[piece] {
				known[piece] = true
				list = append(list, piece)
			}
		}
	}
	add(strings.FieldsFunc(secret, func(r rune) bool { return r == '\n' || r == '\r' || r == utf8.RuneError })...)
	add(secret)
	add(partsOfURL(secret)...)
	for _, piece := range list {
		add(rewritten(piece)...)
	}
	for _, piece := range list {
		for _, text := range spellings(piece) {
			if !known[text] {
				known[text] = true
				list = append(list, text)
			}
		}
	}
	return list
}

// partsOfURL returns the parts of a URL, or of a piece of one, that clients send separately. It leaves out the host, which must
// stay usable, as in the links of an answer.
func partsOfURL(secret string) []string {
	rest, fragment, _ := strings.Cut(secret, "#")
	rest, query, _ := strings.Cut(rest, "?")
	list := []string{fragment, query}
	for field := range strings.SplitSeq(query, "&") {
		_, text, ok := strings.Cut(field, "=")
		if !ok {
			text = field
		}
		list = append(list, text)
	}
	path := rest
	if _, afterScheme, ok := strings.Cut(rest, "://"); ok {
		rest = afterScheme
		path = rest[len(authority(rest)):]
	}
	if at := strings.LastIndexByte(authority(rest), '@'); at >= 0 {
		_, password, _ := strings.Cut(rest[:at], ":")
		list = append(list, rest[:at], password)
	}
	return append(list, path)
}

// authority returns the beginning of a URL after its scheme: userinfo and host.
func authority(rest string) string {
	text, _, _ := strings.Cut(rest, "/")
	return text
}

// rewritten returns the forms that clients send: of a header name or a host, and of a text with escapes.
func rewritten(secret string) []string {
	list := []string{strings.ToLower(secret), http.CanonicalHeaderKey(secret)}
	for _, unescape := range []func(string) (string, error){url.PathUnescape, url.QueryUnescape} {
		if text, err := unescape(secret); err == nil {
			list = append(list, text)
		}
	}
	return list
}

// inBase64 returns the parts of a secret's base64 that do not depend on the text around it, such as user: before it: one for each
// position of its first byte in a group of three, and the complete encoding of the secret alone.
func inBase64(secret string) []string {
	var list []string
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		list = append(list, encoding.EncodeToString([]byte(secret)), encoding.WithPadding(base64.NoPadding).EncodeToString([]byte(secret)))
		for before := range 3 {
			text := encoding.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
			list = append(list, text[(before*8+5)/6:(before+len(secret))*8/6])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
