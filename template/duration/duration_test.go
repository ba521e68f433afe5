package duration_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/duration"
)

func TestDurationsHaveOneLengthAndOneSpelling(t *testing.T) {
	for _, c := range []struct {
		text      string
		want      time.Duration
		canonical string
	}{
		{"PT30S", 30 * time.Second, "PT30S"},
		{"PT0.5M", 30 * time.Second, "PT30S"},
		{"PT90S", 90 * time.Second, "PT1M30S"},
		{"P1W", 7 * 24 * time.Hour, "P7D"},
		{"P1DT2H30M0.5S", 26*time.Hour + 30*time.Minute + 500*time.Millisecond, "P1DT2H30M0.5S"},
		{"PT0.000000001S", 1, "PT0.000000001S"},
		{"P106751D", 106751 * 24 * time.Hour, "P106751D"},
	} {
		got, err := duration.Parse(c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, got, c.text)
		require.Equal(t, c.canonical, duration.Format(got))
	}
	require.Equal(t, "PT0S", duration.Format(0))
	require.Equal(t, "-PT5S", duration.Format(-5*time.Second))
}

func TestDurationsWithoutAFixedPositiveLengthAreRefused(t *testing.T) {
	for text, why := range map[string]string{
		"P": "write it as", "PT": "write it as", "P1DT": "write it as", "": "write it as", "30s": "write it as", "PT5": "write it as",
		"PPT5S": "write it as", "PT5S5S": "write it as", "PT5S1M": "write it as", "pt5s": "write it as", "PT1,5S": "write it as",
		"PT1e3S": "write it as", "P1H": "write it as", "PT1D": "write it as", "PT5S ": "write it as", "PT½S": "write it as",
		"-PT5S": "it is negative", "PT0S": "it is zero", "P0D": "it is zero", "PT0.0000000001S": "it is zero",
		"P1M": "no fixed length", "P1Y": "no fixed length", "P1Y2D": "no fixed length", "P1MT5S": "no fixed length",
		"P200000D": "longer than 292 years", "P99999999999999999999W": "longer than 292 years",
	} {
		_, err := duration.Parse(text)
		require.ErrorContains(t, err, why, "%q", text)
		require.ErrorContains(t, err, "invalid duration \""+text+"\"")
	}
}

func TestDurationsAreRefusedByTheirLengthFirst(t *testing.T) {
	_, err := duration.Parse("PT" + strings.Repeat("0", 197) + "1S")
	require.ErrorContains(t, err, "it has 201 bytes, at most 200 are read")
	require.Less(t, len(err.Error()), 300)
	d, err := duration.Parse("PT" + strings.Repeat("0", 196) + "1S")
	require.NoError(t, err)
	require.Equal(t, time.Second, d)
}

func TestFormattedDurationsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(1, 1<<63-1).Draw(t, "d"))
		text := duration.Format(d)
		if d > 106751*24*time.Hour {
			return // the last day of a time.Duration cannot be written without rounding past its end
		}
		back, err := duration.Parse(text)
		require.NoError(t, err)
		require.Equal(t, d, back, text)
	})
}
