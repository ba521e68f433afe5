package jinja

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

var htmlEscapes = strings.NewReplacer("&", "&amp;", ">", "&gt;", "<", "&lt;", "'", "&#39;", `"`, "&#34;")

// escape escapes a text for HTML.
func escape(r *run, v any, _ args) (any, error) {
	s, err := r.text(v)
	if err != nil {
		return nil, err
	}
	return r.escaped(s)
}

func (r *run) escaped(s string) (string, error) {
	if err := r.grow(len(s) + 4*(len(s)-len(strings.Map(withoutSpecial, s)))); err != nil {
		return "", err
	}
	return htmlEscapes.Replace(s), nil
}

func withoutSpecial(c rune) rune {
	if strings.ContainsRune(`&<>'"`, c) {
		return -1
	}
	return c
}

// stripTags removes tags and comments, and collapses white space, for HTML.
func stripTags(r *run, v any, _ args) (any, error) {
	s, err := r.text(v)
	if err != nil {
		return nil, err
	}
	if err := r.room(len(s)); err != nil {
		return nil, err
	}
	s = withoutTags(withoutComments(s))
	return html.UnescapeString(strings.Join(fields(s, len(s)), " ")), nil
}

// withoutComments removes <!-- … -->, repeatedly if a removal forms another.
func withoutComments(s string) string {
	var out []byte
	for i := 0; i < len(s); i++ {
		out = append(out, s[i])
		if s[i] != '-' || !strings.HasSuffix(string(out[max(len(out)-4, 0):]), "<!--") {
			continue
		}
		rest, after := s[i+1:], 0
		switch {
		case strings.HasPrefix(rest, ">"): // the dashes of the beginning may also end the comment
			after = 1
		case strings.HasPrefix(rest, "->"):
			after = 2
		default:
			end := strings.Index(rest, "-->")
			if end < 0 {
				return string(out) + rest
			}
			after = end + 3
		}
		out = out[:len(out)-4]
		i += after
	}
	return string(out)
}

func withoutTags(s string) string {
	var b strings.Builder
	for {
		start := strings.IndexByte(s, '<')
		if start < 0 {
			break
		}
		end := strings.IndexByte(s[start:], '>')
		if end < 0 {
			break
		}
		b.WriteString(s[:start])
		s = s[start+end+1:]
	}
	b.WriteString(s)
	return b.String()
}

// xmlAttributes returns the entries of an object as attributes of a tag. Null and undefined ones are omitted.
func xmlAttributes(r *run, v any, a args) (any, error) {
	m, ok := mappingOf(v)
	if !ok {
		return nil, fmt.Errorf("it needs an object, not %s", describe(v))
	}
	entries, err := r.pairs(m)
	if err != nil {
		return nil, err
	}
	w := &writer{run: r}
	spaced, given := a.at(0, "autospace")
	for _, e := range entries {
		if e.value == nil || is[undefined](e.value) {
			continue
		}
		name, ok := e.key.(string)
		if !ok || strings.ContainsAny(name, " \t\n\r\f\v/>=") {
			return nil, fmt.Errorf("%s cannot be the name of an attribute", brief(e.key))
		}
		text, err := r.text(e.value)
		if err != nil {
			return nil, err
		}
		key, err := r.escaped(name)
		if err != nil {
			return nil, err
		}
		if text, err = r.escaped(text); err != nil {
			return nil, err
		}
		if w.Len() > 0 || !given || truth(spaced) {
			w.put(" ")
		}
		w.put(key, `="`, text, `"`)
	}
	return w.String(), w.err
}

// urlencode escapes a text for a URL, or returns the query of name and value pairs.
func urlencode(r *run, v any, _ args) (any, error) {
	if _, isText := v.(string); !isText {
		if m, ok := mappingOf(v); ok {
			entries, err := r.pairs(m)
			if err != nil {
				return nil, err
			}
			return r.query(entries)
		}
		if list, ok := sequence(v); ok {
			entries, err := r.entriesOf(list)
			if err != nil {
				return nil, err
			}
			return r.query(entries)
		}
	}
	text, err := r.text(v)
	if err != nil {
		return nil, err
	}
	if err := r.grow(3 * len(text)); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(text), "+", "%20"), "%2F", "/"), nil
}

// query returns the query of a URL.
func (r *run) query(entries []entry) (any, error) {
	w := &writer{run: r}
	for i, e := range entries {
		name, err := r.text(e.key)
		if err != nil {
			return nil, err
		}
		v, err := r.text(e.value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			w.put("&")
		}
		if err := r.grow(3 * (len(name) + len(v))); err != nil {
			return nil, err
		}
		w.put(url.QueryEscape(name), "=", url.QueryEscape(v))
	}
	return w.String(), w.err
}

// The addresses that urlize recognizes in a word.
var (
	webForm = regexp.MustCompile(`^(?i:(?:https?://|www\.)(?:(?:[\pL\pN_%-]+\.)+)?(?:[a-z]{2,63}|xn--[\pL\pN_%]{2,59})|` +
		`(?:[\pL\pN_%-]{2,63}\.)+(?:com|net|int|edu|gov|org|info|mil)|` +
		`https?://(?:\p{Nd}{1,3}(?:\.\p{Nd}{1,3}){3}|\[(?:[\p{Nd}a-f]{0,4}:){2}(?:[\p{Nd}a-f]{0,4}:?){1,6}\]))(?::\p{Nd}{1,5})?(?:[/?#]\S*)?$`)
	mailForm   = regexp.MustCompile(`^\S+@[\pL\pN_][\pL\pN_.-]*\.[\pL\pN_]+$`)
	headForm   = regexp.MustCompile(`^(?:[(<]|&lt;)+`)
	tailForm   = regexp.MustCompile(`(?:[)>.,\n]|&gt;)+$`)
	schemeForm = regexp.MustCompile(`^[\pL\pN_.+-]{2,}:/{0,2}$`)
)

// linker turns words of a text into links.
type linker struct {
	run        *run
	attributes string // of each link
	limit      int64  // characters of an address that are shown; below 0: all
	schemes    []string
}

// urlize makes links of the addresses in a text.
func urlize(r *run, v any, a args) (any, error) {
	l, err := r.linker(a)
	if err != nil {
		return nil, err
	}
	text, err := r.text(v)
	if err != nil {
		return nil, err
	}
	if text, err = r.escaped(text); err != nil {
		return nil, err
	}
	w := &writer{run: r}
	for text != "" {
		i := strings.IndexFunc(text, isSpace)
		if i < 0 {
			i = len(text)
		}
		if err := r.spend(1 + i); err != nil {
			return nil, err
		}
		word, err := l.word(text[:i])
		if err != nil {
			return nil, err
		}
		next := len(text) - len(strings.TrimLeftFunc(text[i:], isSpace))
		w.put(word, text[i:next])
		text = text[next:]
	}
	return w.String(), w.err
}

// linker reads the arguments of urlize.
func (r *run) linker(a args) (*linker, error) {
	l := &linker{run: r, limit: -1}
	if _, ok := a.given(0, "trim_url_limit"); ok {
		limit, err := a.integer(0, "trim_url_limit", 0)
		if err != nil {
			return nil, err
		}
		l.limit = max(limit, 0)
	}
	rel := []string{"noopener"}
	if a.flag(1, "nofollow") {
		rel = append(rel, "nofollow")
	}
	for i, name := range []string{"target", "rel"} {
		if _, ok := a.given(2+i, name); !ok {
			continue
		}
		text, err := a.must(2+i, name)
		if err != nil {
			return nil, err
		}
		if name == "rel" {
			rel = append(rel, strings.Fields(text)...)
		} else if text != "" {
			l.attributes = ` target="` + htmlEscapes.Replace(text) + `"`
		}
	}
	slices.Sort(rel)
	l.attributes = ` rel="` + htmlEscapes.Replace(strings.Join(slices.Compact(rel), " ")) + `"` + l.attributes
	if v, ok := a.given(4, "extra_schemes"); ok {
		list, err := r.elements(v)
		if err != nil {
			return nil, err
		}
		for _, x := range list {
			scheme, _ := x.(string)
			if !schemeForm.MatchString(scheme) {
				return nil, fmt.Errorf("%s cannot begin a URL", brief(x))
			}
			l.schemes = append(l.schemes, scheme)
		}
	}
	return l, r.grow(len(l.attributes))
}

// word makes a link of a word that is an address. Surrounding brackets and trailing points stay outside.
func (l *linker) word(word string) (string, error) {
	head := headForm.FindString(word)
	middle, tail := word[len(head):], ""
	if i := tailForm.FindStringIndex(middle); i != nil {
		middle, tail = middle[:i[0]], middle[i[0]:]
	}
	for _, pair := range [][2]string{{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}} {
		opened := strings.Count(middle, pair[0])
		if opened <= strings.Count(middle, pair[1]) {
			continue
		}
		for range min(opened, strings.Count(tail, pair[1])) { // brackets opened inside stay inside
			end := strings.Index(tail, pair[1]) + len(pair[1])
			if err := l.run.spend(1 + len(middle)/8); err != nil {
				return "", err
			}
			middle, tail = middle+tail[:end], tail[end:]
		}
	}
	return head + l.link(middle) + tail, nil
}

func (l *linker) link(s string) string {
	switch {
	case webForm.MatchString(s) && (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")):
		return `<a href="` + s + `"` + l.attributes + `>` + l.shown(s) + `</a>`
	case webForm.MatchString(s):
		return `<a href="https://` + s + `"` + l.attributes + `>` + l.shown(s) + `</a>`
	case strings.HasPrefix(s, "mailto:") && mailForm.MatchString(s[len("mailto:"):]):
		return `<a href="` + s + `">` + s[len("mailto:"):] + `</a>`
	case strings.Contains(s, "@") && !strings.HasPrefix(s, "www.") && !strings.HasPrefix(s, "@") && !strings.Contains(s, ":") && mailForm.MatchString(s):
		return `<a href="mailto:` + s + `">` + s + `</a>`
	}
	for _, scheme := range l.schemes {
		if s != scheme && strings.HasPrefix(s, scheme) {
			s = `<a href="` + s + `"` + l.attributes + `>` + s + `</a>`
		}
	}
	return s
}

// shown returns the visible text of a link, which may be shortened.
func (l *linker) shown(s string) string {
	if l.limit < 0 || int64(utf8.RuneCountInString(s)) <= l.limit {
		return s
	}
	return string([]rune(s)[:l.limit]) + "..."
}
