package journaltest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// TestContent tests the contract of journal.ContentStore. open returns an empty store, which TestContent closes.
func TestContent(t *testing.T, open func(t *testing.T) journal.ContentStore) {
	tests := []struct {
		name string
		test func(t *testing.T, s journal.ContentStore)
	}{
		{"content comes back", testContentComesBack},
		{"put keeps no reference, and content is the caller's", testContentIsCopied},
		{"content is apart for each stream", testContentIsApart},
		{"an unknown stream has and takes nothing", testContentOfUnknown},
		{"a put that no store takes keeps nothing", testPutLimits},
		{"a put of the largest blob is taken", testLargestPut},
		{"a sweep deletes what is not kept", testSweep},
		{"a sweep spares what is put once it asks", testSweepSpares},
		{"a sweep and a put at the same time", testSweepRaces},
		{"trimmed events are distinguished", testTrim},
		{"a stream is trimmed up to its snapshot at most", testTrimGuard},
		{"a reader of a stream that is trimmed misses nothing silently", testTrimUnderReader},
		{"a tail continues behind a trim, or ends with an error", testTrimUnderTail},
		{"events behind a gap are as if those in it were trimmed", testBehind},
		{"a gap is behind event 1 and before a snapshot", testBehindGuard},
		{"the head of one run is that of the list", testHeadOfOne},
		{"puts, sweeps, trims and appends at the same time", testContentRaces},
		{"a store that is closed or a call that is cancelled does nothing", testContentEnds},
		{"it does what a map does", testContentModel},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			s := open(t)
			defer func() { require.NoError(t, s.Close()) }()
			test.test(t, s)
		})
	}
}

func put(t require.TestingT, s journal.ContentStore, stream string, texts ...string) {
	blobs := make([][]byte, len(texts))
	for i, text := range texts {
		blobs[i] = []byte(text)
	}
	require.NoError(t, s.PutContent(context.Background(), stream, blobs))
}

func hash(text string) journal.Hash { return sha256.Sum256([]byte(text)) }

// requireContent requires that a stream has a text as content.
func requireContent(t require.TestingT, s journal.ContentStore, stream, text string) {
	content, err := s.Content(context.Background(), stream, hash(text))
	require.NoError(t, err)
	require.True(t, text == string(content), "content is what was put")
}

func requireNoContent(t require.TestingT, s journal.ContentStore, stream, text string) {
	content, err := s.Content(context.Background(), stream, hash(text))
	require.ErrorIs(t, err, journal.ErrNotFound)
	require.Empty(t, content)
}

// sweep deletes all content except texts.
func sweep(t require.TestingT, s journal.ContentStore, stream string, texts ...string) {
	kept := map[journal.Hash]bool{}
	for _, text := range texts {
		kept[hash(text)] = true
	}
	require.NoError(t, s.SweepContent(context.Background(), stream, func(h journal.Hash) bool { return kept[h] }))
}

func testContentComesBack(t *testing.T, s journal.ContentStore) {
	mustAppend(t, s, "run", 0, batch(1, "a"), journal.Head{})
	texts := []string{"a", "\x00", "b\x00c", string(bytes.Repeat([]byte("large"), 100_000))}
	put(t, s, "run", texts...)
	put(t, s, "run", texts[1], "d", "d")
	put(t, s, "run")
	for _, text := range append(texts, "d") {
		requireContent(t, s, "run", text)
	}
	requireNoContent(t, s, "run", "e")
	mustAppend(t, s, "run", 1, batch(1, "b"), journal.Head{})
	requireContent(t, s, "run", "d")
	require.Len(t, mustRead(t, s, "run", 1), 2, "content is no event")
	require.Empty(t, mustHeads(t, s, ""))
}

func testContentIsCopied(t *testing.T, s journal.ContentStore) {
	mustAppend(t, s, "run", 0, batch(1, "a"), journal.Head{})
	blob := []byte("text")
	require.NoError(t, s.PutContent(context.Background(), "run", [][]byte{blob}))
	blob[0] = 'n'
	requireContent(t, s, "run", "text")
	content, err := s.Content(context.Background(), "run", hash("text"))
	require.NoError(t, err)
	content[0] = 'n'
	requireContent(t, s, "run", "text")
}

func testContentIsApart(t *testing.T, s journal.ContentStore) {
	streams := []string{"run", "run-1", "ru", "run/child#1"}
	for _, stream := range streams {
		mustAppend(t, s, stream, 0, batch(1, "a"), journal.Head{})
		put(t, s, stream, "of "+stream, "of all")
	}
	sweep(t, s, "run")
	for _, stream := range streams {
		for _, other := range streams {
			if stream == other && stream != "run" {
				requireContent(t, s, stream, "of "+other)
				requireContent(t, s, stream, "of all")
			} else {
				requireNoContent(t, s, stream, "of "+other)
			}
		}
	}
	requireNoContent(t, s, "run", "of all")
}

func testContentOfUnknown(t *testing.T, s journal.ContentStore) {
	ctx := context.Background()
	for name, err := range map[string]error{
		"put":         s.PutContent(ctx, "run", [][]byte{[]byte("a")}),
		"put of none": s.PutContent(ctx, "run", nil),
		"sweep":       s.SweepContent(ctx, "run", func(journal.Hash) bool { return true }),
		"trim":        s.Trim(ctx, "run", 0),
	} {
		require.ErrorIs(t, err, journal.ErrNotFound, name)
	}
	_, err := s.Head(ctx, "run")
	require.ErrorIs(t, err, journal.ErrNotFound)
	requireNoContent(t, s, "run", "a")
	mustAppend(t, s, "run", 0, batch(1, "a"), journal.Head{})
	requireNoContent(t, s, "run", "a")
}

func testPutLimits(t *testing.T, s journal.ContentStore) {
	document := []journal.Event{{Type: journal.ContentStored, Value: "x"}}
	mustAppend(t, s, "def/1", 0, document, journal.Head{})
	mustAppend(t, s, "run", 0, batch(1, "a"), journal.Head{})
	a, half := []byte("a"), make([]byte, journal.ContentMaxBytes)
	for name, test := range map[string]struct {
		stream string
		blobs  [][]byte
		want   error
	}{
		"an empty blob":         {"run", [][]byte{a, {}}, journal.ErrInvalid},
		"a nil blob":            {"run", [][]byte{a, nil}, journal.ErrInvalid},
		"a large blob":          {"run", [][]byte{a, make([]byte, journal.ContentMaxBytes+1)}, journal.ErrTooLarge},
		"many bytes":            {"run", [][]byte{a, half, half}, journal.ErrTooLarge},
		"many blobs":            {"run", slices.Repeat([][]byte{a}, journal.PutMaxBlobs+1), journal.ErrTooLarge},
		"a definition's stream": {"def/1", [][]byte{a}, journal.ErrInvalid},
	} {
		require.ErrorIs(t, s.PutContent(context.Background(), test.stream, test.blobs), test.want, name)
		requireNoContent(t, s, test.stream, "a")
	}
}

func testLargestPut(t *testing.T, s journal.ContentStore) {
	if testing.Short() {
		t.Skip("it moves megabytes in one goroutine")
	}
	mustAppend(t, s, "run", 0, batch(1, "a"), journal.Head{})
	one, two := make([]byte, journal.ContentMaxBytes), make([]byte, journal.PutMaxBytes-journal.ContentMaxBytes)
	one[0], two[0] = 1, 2
	require.NoError(t, s.PutContent(context.Background(), "run", [][]byte{one, two}))
	requireContent(t, s, "run", string(one))
	requireContent(t, s, "run", string(two))
	require.NoError(t, s.PutContent(context.Background(), "run", slices.Repeat([][]byte{{1}}, journal.PutMaxBlobs)))
	requireContent(t, s, "run", "\x01")
}

// numbers returns n texts.
func numbers(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprint("number ", i)
	}
	return texts
}

func testSweep(t *testing.T, s journal.ContentStore) {
	mustAppend(t, s, "run", 0, batch(1, "a"), journal.Head{})
	sweep(t, s, "run")
	texts := numbers(3000)
	put(t, s, "run", texts...)
	var asked []journal.Hash
	kept := map[journal.Hash]bool{}
	for _, text := range texts[1000:] {
		kept[hash(text)] = true
	}
	require.NoError(t, s.SweepContent(context.Background(), "run", func(h journal.Hash) bool {
		asked = append(asked, h)
		return kept[h]
	}))
	require.Len(t, asked, len(texts))
	require.True(t, slices.IsSortedFunc(asked, func(a, b journal.Hash) int { return bytes.Compare(a[:], b[:]) }))
	for i, text := range texts {
		if i < 1000 {
			requireNoContent(t, s, "run", text)
		} else {
			requireContent(t, s, "run", text)
		}
	}
	put(t, s, "run", texts[0])
	requireContent(t, s, "run", texts[0])
}

// testSweepSpares puts blobs again for which keep has just returned false, and blobs for which it will return false.
func testSweepSpares(t *testing.T, s journal.ContentStore) {
	mustAppend(t, s, "run", 0, batch(1, "a"), journal.Head{})
	texts := numbers(2500)
	put(t, s, "run", texts...)
	asked := 0
	err := s.SweepContent(context.Background(), "run", func(journal.Hash) bool {
		switch asked++; asked {
		case 1, 1500:
			put(t, s, "run", texts[:5]...)
			put(t, s, "run", "new", fmt.Sprint("new at ", asked))
		}
		return false
	})
	require.NoError(t, err)
	require.GreaterOrEqual(t, asked, len(texts))
	for i, text := range texts {
		if i < 5 {
			requireContent(t, s, "run", text)
		} else {
			requireNoContent(t, s, "run", text)
		}
	}
	requireContent(t, s, "run", "new")
	requireContent(t, s, "run", "new at 1")
	requireContent(t, s, "run", "new at 1500")
	sweep(t, s, "run", "new")
	requireContent(t, s, "run", "new")
	requireNoContent(t, s, "run", texts[0])
}
