package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOutputWaitsUntilTheJournalIsGivenBack(t *testing.T) {
	var to bytes.Buffer
	h := &heldBack{to: &to}
	print := func(text string) {
		n, err := h.Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, len(text), n)
	}
	print("a")
	require.Equal(t, "a", to.String())
	h.waits = true
	print("b")
	require.Equal(t, "a", to.String())
	require.NoError(t, h.release())
	require.Equal(t, "ab", to.String())
	print("c")
	require.Equal(t, "abc", to.String())

	h.waits = true
	print(strings.Repeat("d", heldBackMax))
	require.Equal(t, 3, to.Len(), "so much waits")
	print("e")
	require.Equal(t, 3+heldBackMax+1, to.Len(), "and no more")
	require.True(t, strings.HasSuffix(to.String(), "de"))
}

type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestOutputThatNobodyTakesIsAnError(t *testing.T) {
	h := &heldBack{to: gone{}, waits: true}
	_, err := h.Write([]byte("a"))
	require.NoError(t, err)
	require.EqualError(t, h.release(), "gone")
}
