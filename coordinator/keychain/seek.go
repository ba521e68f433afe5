package keychain

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/operation"
)

// seeker finds secrets in texts, and replaces them by marks.
//
// It searches a text in all its views for every form, and replaces all matches, overlapping ones together. It finds marks like
// secrets, so that redacting a text twice changes nothing.
type seeker struct {
	forms  map[[MinLength]byte][]form // by their first bytes; the longest first
	pairs  [1 << 16 / 64]uint64       // a bit for each two bytes that a form begins with
	behind int                        // maximum number of bytes of a secret in a text

	secrets []pair // the secrets of the forms
}

// span is a part of a text with a secret.
type span struct {
	start, end int
	mark       string
}

func newSeeker(list []pair) *seeker {
	k := &seeker{forms: map[[MinLength]byte][]form{}, secrets: list}
	for _, p := range list {
		k.add(form{text: p.mark, mark: p.mark})
		for _, f := range formsOf(p) {
			k.add(f)
		}
	}
	for first, forms := range k.forms {
		// For two secrets with the same form, the mark must be deterministic.
		slices.SortFunc(forms, func(a, b form) int {
			return cmp.Or(cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.text, b.text), cmp.Compare(a.mark, b.mark))
		})
		k.forms[first] = slices.CompactFunc(forms, func(a, b form) bool { return a.text == b.text && a.inLines == b.inLines })
	}
	return k
}

func (k *seeker) add(f form) {
	first := [MinLength]byte([]byte(f.text))
	k.forms[first] = append(k.forms[first], f)
	two := int(first[0])<<8 | int(first[1])
	k.pairs[two/64] |= 1 << (two % 64)
	k.behind = max(k.behind, escapeMax*len(f.text))
}

// beginning returns the forms that a text may begin with.
func (k *seeker) beginning(text string) []form {
	if two := int(text[0])<<8 | int(text[1]); k.pairs[two/64]&(1<<(two%64)) == 0 {
		return nil
	}
	return k.forms[[MinLength]byte([]byte(text[:MinLength]))]
}

// spans returns the secrets in a text, in order.
func (k *seeker) spans(text string, isEnd bool) []span {
	var list []span
	raw := view{text: text}
	raw.each(viewsMax, func(v *view) {
		for i := 0; i+MinLength <= len(v.text); i++ {
			for _, f := range k.beginning(v.text[i:]) {
				if (f.inLines || !v.unbroken) && strings.HasPrefix(v.text[i:], f.text) {
					start, end := v.at(i, i+len(f.text))
					list = append(list, span{start, end, f.mark})
					break // the longest
				}
			}
		}
	})
	const dots = "…" // written in place of the rest of a cut text
	for end := 0; len(text) <= operation.MessageMax && strings.Contains(text[end:], dots); end += len(dots) {
		end += strings.Index(text[end:], dots)
		list = append(list, k.cutOff(text[:end])...)
	}
	if isEnd {
		list = append(list, k.cutOff(text)...)
	}
	slices.SortFunc(list, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	return list
}

// cutOff returns the spans of secrets that the end of the text cuts.
func (k *seeker) cutOff(text string) []span {
	const longest = 1000 // bytes: texts cut for people are shorter
	for i := max(0, len(text)-longest); i+pieceMin <= len(text); i++ {
		for _, f := range k.beginning(text[i:]) {
			if strings.HasPrefix(f.text, text[i:]) {
				return []span{{i, len(text), f.mark}}
			}
		}
	}
	return nil
}

// splitOverlaps replaces overlapping spans by adjacent ones that cover the same bytes.
func splitOverlaps(list []span) []span {
	var out []span
	end := 0
	for i := 0; i < len(list); {
		if list[i].end <= end {
			i++
			continue
		}
		best := list[i]
		best.start = max(best.start, end)
		for ; i < len(list) && list[i].start <= best.start; i++ {
			if list[i].end > best.end {
				best.end, best.mark = list[i].end, list[i].mark
			}
		}
		out, end = append(out, best), best.end
	}
	return out
}

// redact returns a text with marks in place of secrets.
func (k *seeker) redact(text string) string {
	if len(text) < MinLength {
		return text
	}
	var b strings.Builder
	s := stream{seeker: k, to: &b}
	_, _ = io.WriteString(&s, text) // a Builder returns no error
	_ = s.flush(false)
	return b.String()
}

// stream replaces secrets by marks in a text that arrives in parts. It holds back as much as an incomplete secret may take.
type stream struct {
	*seeker
	to   io.Writer
	kept []byte
}

// Write adds a part of a text.
func (s *stream) Write(part []byte) (int, error) {
	const step = 256 << 10
	for taken := 0; taken < len(part); {
		n := min(len(part)-taken, step)
		s.kept = append(s.kept, part[taken:taken+n]...)
		taken += n
		if len(s.kept) >= 2*s.behind+step {
			if err := s.pass(len(s.kept) - s.behind); err != nil {
				return taken, err
			}
		}
	}
	return len(part), nil
}

// Close ends the text. If it ends with the beginning of a secret, the rest was cut off.
func (s *stream) Close() error { return s.flush(true) }

func (s *stream) flush(isCut bool) error {
	text := string(s.kept)
	s.kept = nil
	return s.write(text, splitOverlaps(s.spans(text, isCut)))
}

// pass writes the beginning of the text held back, up to about end: it cuts neither a secret nor an escape.
func (s *stream) pass(end int) error {
	text := string(s.kept)
	for back := 0; back < escapeMax && strings.IndexByte(`\%&+#xuU;0123456789abcdefABCDEF`, text[end-1]) >= 0; back++ {
		end--
	}
	spans := splitOverlaps(s.spans(text, false))
	i, _ := slices.BinarySearchFunc(spans, end, func(p span, end int) int { return cmp.Compare(p.end, end) })
	if i < len(spans) && spans[i].start < end {
		first := i // of adjacent or overlapping ones
		for first > 0 && spans[first-1].end == spans[first].start {
			first--
		}
		if end = spans[first].start; end > 0 {
			i = first
		} else {
			end = spans[i].end
			i++
		}
	}
	err := s.write(text[:end], spans[:i])
	s.kept = append(s.kept[:0], text[end:]...)
	return err
}

func (s *stream) write(text string, spans []span) error {
	var b strings.Builder
	at := 0
	for _, p := range spans {
		b.WriteString(text[at:p.start])
		b.WriteString(p.mark)
		at = p.end
	}
	b.WriteString(text[at:])
	_, err := io.WriteString(s.to, b.String())
	return err
}
