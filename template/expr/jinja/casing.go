package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Case conversion is Python's, where a letter may become several.

// longUpper are the letters whose upper case is several letters, each followed by those; longTitle those among them whose
// title case differs.
var (
	longUpper = long("ßSS ŉʼN ǰJ̌ ΐΪ́ ΰΫ́ ևԵՒ ẖH̱ ẗT̈ ẘW̊ ẙY̊ ẚAʾ ὐΥ̓ ὒΥ̓̀ ὔΥ̓́ ὖΥ̓͂ ᾀἈΙ ᾁἉΙ ᾂἊΙ ᾃἋΙ ᾄἌΙ ᾅἍΙ ᾆἎΙ ᾇἏΙ ᾈἈΙ ᾉἉΙ ᾊἊΙ ᾋἋΙ ᾌἌΙ ᾍἍΙ ᾎἎΙ ᾏἏΙ " +
		"ᾐἨΙ ᾑἩΙ ᾒἪΙ ᾓἫΙ ᾔἬΙ ᾕἭΙ ᾖἮΙ ᾗἯΙ ᾘἨΙ ᾙἩΙ ᾚἪΙ ᾛἫΙ ᾜἬΙ ᾝἭΙ ᾞἮΙ ᾟἯΙ ᾠὨΙ ᾡὩΙ ᾢὪΙ ᾣὫΙ ᾤὬΙ ᾥὭΙ ᾦὮΙ ᾧὯΙ ᾨὨΙ ᾩὩΙ ᾪὪΙ ᾫὫΙ ᾬὬΙ ᾭὭΙ ᾮὮΙ ᾯὯΙ " +
		"ᾲᾺΙ ᾳΑΙ ᾴΆΙ ᾶΑ͂ ᾷΑ͂Ι ᾼΑΙ ῂῊΙ ῃΗΙ ῄΉΙ ῆΗ͂ ῇΗ͂Ι ῌΗΙ ῒΪ̀ ΐΪ́ ῖΙ͂ ῗΪ͂ ῢΫ̀ ΰΫ́ ῤΡ̓ ῦΥ͂ ῧΫ͂ ῲῺΙ ῳΩΙ ῴΏΙ ῶΩ͂ ῷΩ͂Ι ῼΩΙ " +
		"ﬀFF ﬁFI ﬂFL ﬃFFI ﬄFFL ﬅST ﬆST ﬓՄՆ ﬔՄԵ ﬕՄԻ ﬖՎՆ ﬗՄԽ")
	longTitle = long("ßSs ևԵւ ᾲᾺͅ ᾴΆͅ ᾷᾼ͂ ῂῊͅ ῄΉͅ ῇῌ͂ ῲῺͅ ῴΏͅ ῷῼ͂ ﬀFf ﬁFi ﬂFl ﬃFfi ﬄFfl ﬅSt ﬆSt ﬓՄն ﬔՄե ﬕՄի ﬖՎն ﬗՄխ")
)

func long(words string) map[rune]string {
	out := map[rune]string{}
	for word := range strings.FieldsSeq(words) {
		c, size := utf8.DecodeRuneInString(word)
		out[c] = word[size:]
	}
	return out
}

func upperOf(c rune) string {
	if s, ok := longUpper[c]; ok {
		return s
	}
	return string(unicode.ToUpper(c))
}

// titleOf returns the title case of a letter.
func titleOf(c rune) string {
	if s, ok := longTitle[c]; ok {
		return s
	}
	if t := unicode.ToTitle(c); t != c || unicode.IsTitle(c) {
		return string(t)
	}
	return upperOf(c)
}

// perRune concatenates the conversions of a text's characters.
func perRune(s string, to func(rune) string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, c := range s {
		b.WriteString(to(c))
	}
	return b.String()
}

func upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return perRune(s, upperOf)
}

func lower(s string) string {
	if !strings.ContainsAny(s, "İΣ") {
		return strings.ToLower(s)
	}
	runes := []rune(s)
	var b strings.Builder
	for i, c := range runes {
		b.WriteString(lowerAt(runes, i, c))
	}
	return b.String()
}

// lowerAt returns the lower case of a character at its place: a sigma at the end of a word has a form of its own.
func lowerAt(runes []rune, i int, c rune) string {
	switch {
	case c == 'İ':
		return "i̇"
	case c == 'Σ' && nextTo(runes, i, -1) && !nextTo(runes, i, 1):
		return "ς"
	}
	return string(unicode.ToLower(c))
}

// nextTo reports whether a letter with a case is next to a place; marks and points within words do not count.
func nextTo(runes []rune, i, step int) bool {
	for i += step; i >= 0 && i < len(runes); i += step {
		c := runes[i]
		if !unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) && !strings.ContainsRune("'.:·’‧·﹕：＇．", c) {
			return isCased(c)
		}
	}
	return false
}

func capitalize(s string) string {
	c, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	runes := []rune(s)
	var b strings.Builder
	b.WriteString(titleOf(c))
	for i, c := range runes[1:] {
		b.WriteString(lowerAt(runes, i+1, c))
	}
	return b.String()
}

// title capitalizes each run of letters: it's becomes It'S.
func title(s string) string {
	runes, before := []rune(s), false
	var b strings.Builder
	for i, c := range runes {
		if before {
			b.WriteString(lowerAt(runes, i, c))
		} else {
			b.WriteString(titleOf(c))
		}
		before = isCased(c)
	}
	return b.String()
}

func swapcase(s string) string {
	runes := []rune(s)
	var b strings.Builder
	for i, c := range runes {
		switch {
		case isUpper(c):
			b.WriteString(lowerAt(runes, i, c))
		case isLower(c):
			b.WriteString(upperOf(c))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// casefold returns a text without case distinctions, for comparisons: ß is ss.
func casefold(s string) string {
	return perRune(s, func(c rune) string {
		switch {
		case c == 'ı':
			return "ı"
		case c == 'ẞ':
			return "ss"
		case unicode.Is(unicode.Cherokee, c):
			return string(unicode.ToUpper(c))
		case c == 'İ':
			return "i̇"
		}
		return strings.ToLower(upperOf(c))
	})
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func isUpper(c rune) bool { return unicode.IsUpper(c) || unicode.Is(unicode.Other_Uppercase, c) }
func isLower(c rune) bool { return unicode.IsLower(c) || unicode.Is(unicode.Other_Lowercase, c) }
func isCased(c rune) bool { return isUpper(c) || isLower(c) || unicode.IsTitle(c) }
