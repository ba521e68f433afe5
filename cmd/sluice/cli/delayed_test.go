package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDelayedOutputWaitsForItsRelease(t *testing.T) {
	var to bytes.Buffer
	h := NewDelayed(&to)
	print := func(text string) {
		n, err := h.Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, len(text), n)
	}
	print("a")
	require.Equal(t, "a", to.String())
	h.Hold(true)
	print("b")
	require.Equal(t, "a", to.String())
	require.NoError(t, h.Release())
	require.Equal(t, "ab", to.String())
	print("c")
	require.Equal(t, "abc", to.String())

	h.Hold(true)
	print(strings.Repeat("d", delayedMax))
	require.Equal(t, 3, to.Len(), "the held output is written")
	print("e")
	require.Equal(t, 3+delayedMax+1, to.Len(), "output beyond the bound is written at once")
	require.True(t, strings.HasSuffix(to.String(), "de"))
}

type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestDelayedOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	h := NewDelayed(gone{})
	h.Hold(true)
	_, err := h.Write([]byte("a"))
	require.NoError(t, err)
	require.EqualError(t, h.Release(), "gone")
}
