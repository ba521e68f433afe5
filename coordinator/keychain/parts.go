package keychain

import (
	"slices"
	"strings"
)

// part is the shortest part of a secret that an error must not show.
type part [pieceMin]byte

// redactParts returns a text with marks in place of secrets and of parts of secrets, in upper or lower case. It is for errors, whose
// authors may show a text derived from the secret: a URL without its password, a host, a name that was cut at a slash. In data it
// would find texts that are not secrets.
func (k *seeker) redactParts(text string) string {
	var b strings.Builder
	at := 0
	for _, p := range splitOverlaps(k.spans(text, false)) {
		b.WriteString(k.withoutParts(text[at:p.start]))
		b.WriteString(p.mark)
		at = p.end
	}
	b.WriteString(k.withoutParts(text[at:]))
	return b.String()
}

// withoutParts is redactParts for a text without whole secrets.
func (k *seeker) withoutParts(text string) string {
	found := map[part]string{} // marks
	raw := view{text: text}
	raw.each(viewsMax, func(v *view) {
		for _, p := range partsOf(v.text) {
			found[p] = ""
		}
	})
	if len(found) == 0 {
		return text
	}
	k.markParts(found)
	var list []span
	raw.each(viewsMax, func(v *view) {
		last := -1 // the end of the last match, in this view
		for i, p := range partsOf(v.text) {
			mark := found[p]
			if mark == "" {
				continue
			}
			start, end := v.at(i, i+len(p))
			if i < last {
				list[len(list)-1].end = end
			} else {
				list = append(list, span{start, end, mark})
			}
			last = i + len(p)
		}
	})
	slices.SortFunc(list, func(a, b span) int { return a.start - b.start })
	var b strings.Builder
	at := 0
	for _, s := range list {
		if s.start >= at {
			b.WriteString(text[at:s.start])
			b.WriteString(s.mark)
		}
		at = max(at, s.end)
	}
	b.WriteString(text[at:])
	return b.String()
}

// markParts records the mark for each part of a secret.
func (k *seeker) markParts(found map[part]string) {
	for _, p := range k.secrets {
		for _, f := range formsOf(p) {
			// The scheme alone reveals nothing.
			_, afterScheme, isURL := strings.Cut(f.text, "://")
			if isURL {
				f.text = afterScheme
			}
			for _, part := range partsOf(f.text) {
				if mark, ok := found[part]; ok && (mark == "" || p.mark < mark) {
					found[part] = p.mark
				}
			}
		}
	}
}

// partsOf returns every part of a text, by its position. ASCII letters are lower case.
func partsOf(text string) []part {
	if len(text) < pieceMin {
		return nil
	}
	list := make([]part, len(text)-pieceMin+1)
	for i := range list {
		copy(list[i][:], text[i:])
		for j, c := range list[i] {
			if 'A' <= c && c <= 'Z' {
				list[i][j] = c + 'a' - 'A'
			}
		}
	}
	return list
}
