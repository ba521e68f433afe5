package duration

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	iso "github.com/sosodev/duration"
)

// form is the part of ISO 8601 that has a fixed length: weeks, days, hours, minutes and seconds in this order, each at most
// once, optionally with a fraction.
var form = regexp.MustCompile(
	`^P(?:\d+(?:\.\d+)?W)?(?:\d+(?:\.\d+)?D)?(?:T(?:\d+(?:\.\d+)?H)?(?:\d+(?:\.\d+)?M)?(?:\d+(?:\.\d+)?S)?)?$`)

// bytesMax bounds the bytes of a duration: the canonical text of the longest one has 28.
const bytesMax = 200

// nanosMax bounds a duration: a time.Duration holds about 292 years.
const nanosMax = math.MaxInt64

// Parse reads an ISO 8601 duration such as PT30S or P1DT2H30M0.5S, rounded to nanoseconds. It refuses zero and negative
// durations; years and months, because they have no fixed length; durations that a time.Duration cannot hold (about 292 years);
// and texts of more than 200 bytes.
func Parse(text string) (time.Duration, error) {
	if len(text) > bytesMax {
		return 0, invalid(text[:bytesMax]+"…", fmt.Sprintf("it has %d bytes, at most %d are read", len(text), bytesMax))
	}
	date, _, _ := strings.Cut(text, "T")
	switch {
	case strings.HasPrefix(text, "-"):
		return 0, invalid(text, "it is negative")
	case strings.HasPrefix(text, "P") && strings.ContainsAny(date, "YM"):
		return 0, invalid(text, "years and months have no fixed length")
	case !form.MatchString(text) || strings.HasSuffix(text, "P") || strings.HasSuffix(text, "T"):
		return 0, invalid(text, "write it as PT30S, PT5M or P1DT12H")
	}
	d, err := iso.Parse(text)
	if err != nil {
		return 0, invalid(text, err.Error())
	}
	if ((d.Weeks*7+d.Days)*24+d.Hours)*3600+d.Minutes*60+d.Seconds > 2*nanosMax/1e9 { // any other length fits a uint64
		return 0, invalid(text, "it is longer than 292 years")
	}
	whole := nanos(d.Weeks, 7*24*time.Hour) + nanos(d.Days, 24*time.Hour) + nanos(d.Hours, time.Hour) + nanos(d.Minutes, time.Minute) + nanos(d.Seconds, time.Second)
	switch {
	case whole > nanosMax:
		return 0, invalid(text, "it is longer than 292 years")
	case whole == 0:
		return 0, invalid(text, "it is zero")
	}
	return time.Duration(whole), nil
}

// nanos returns n units in nanoseconds. Whole units stay exact: a float64 sum of a long duration would lose nanoseconds.
func nanos(n float64, unit time.Duration) uint64 {
	whole, part := math.Modf(n)
	return uint64(whole)*uint64(unit) + uint64(math.Round(part*float64(unit)))
}

func invalid(text, why string) error {
	return fmt.Errorf("invalid duration %q: %s", text, why)
}

// Format returns the canonical text of a duration: days, hours, minutes and seconds, each in its range, as in P1DT2H30M0.5S. If
// d is positive, Parse of the text returns d.
func Format(d time.Duration) string {
	if d == 0 {
		return "PT0S"
	}
	b := []byte("P")
	rest := uint64(d)
	if d < 0 {
		b, rest = []byte("-P"), -rest
	}
	unit := func(length time.Duration, letter byte) {
		if n := rest / uint64(length); n > 0 {
			b = append(strconv.AppendUint(b, n, 10), letter)
			rest %= uint64(length)
		}
	}
	unit(24*time.Hour, 'D')
	if rest > 0 {
		b = append(b, 'T')
	}
	unit(time.Hour, 'H')
	unit(time.Minute, 'M')
	if rest > 0 {
		b = strconv.AppendUint(b, rest/uint64(time.Second), 10)
		if nanos := rest % uint64(time.Second); nanos > 0 {
			b = append(b, '.')
			b = append(b, strings.TrimRight(fmt.Sprintf("%09d", nanos), "0")...)
		}
		b = append(b, 'S')
	}
	return string(b)
}
