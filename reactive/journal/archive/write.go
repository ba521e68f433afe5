package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// blobBytes is the size of an encoded value beyond which it has a line of its own.
const blobBytes = 32 << 10

// Writer writes runs.
type Writer struct {
	w       io.Writer
	left    int             // runs to come
	written map[string]bool // streams of the definitions and large values
	digest  hash.Hash       // of the lines of the run
	err     error           // the first one
}

// NewWriter returns a Writer of a file that will have the given number of runs. It writes the first line with the first run, or at
// Close.
func NewWriter(w io.Writer, runs int) *Writer {
	a := &Writer{w: w, left: runs, written: map[string]bool{}, digest: sha256.New()}
	a.put(&line{Sluice: "runs", Version: formatVersion, Runs: runs})
	return a
}

// Run writes one run as it is in the store now. Contents yields the hashes of the content that it needs, and may be nil.
func (a *Writer) Run(ctx context.Context, store journal.Store, run string, contents iter.Seq2[journal.Hash, error]) error {
	if a.left--; a.left < 0 && a.err == nil {
		a.err = fmt.Errorf("archive: run %s is one more than the file was to have", run)
	}
	a.digest.Reset()
	a.put(&line{Run: run})
	last := uint64(0)
	for e, err := range events(ctx, store, run) {
		if err == nil {
			err = a.event(ctx, store, &e)
		}
		if err != nil {
			return fmt.Errorf("export run %s: %w", run, err)
		}
		last = e.Seq
	}
	if last == 0 {
		return fmt.Errorf("export run %s: %w", run, journal.ErrNotFound)
	}
	if contents != nil {
		if err := a.contents(ctx, store, run, contents); err != nil {
			return fmt.Errorf("export run %s: %w", run, err)
		}
	}
	a.put(&line{End: run, Events: last, SHA256: hex.EncodeToString(a.digest.Sum(nil))})
	return a.err
}

// Close returns an error if fewer runs were written than were to be. It does not close the file.
func (a *Writer) Close() error {
	if a.err == nil && a.left > 0 {
		a.err = fmt.Errorf("archive: %d runs are missing", a.left)
	}
	return a.err
}

// events yields the events of a run: all, or the first one and those that were not trimmed.
func events(ctx context.Context, store journal.Store, run string) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		last := uint64(0)
		var trimmed *journal.TrimmedError
		for e, err := range store.Read(ctx, run, 1) {
			if errors.As(err, &trimmed) {
				break
			}
			if last = e.Seq; !yield(e, err) || err != nil {
				return
			}
		}
		if trimmed == nil {
			return
		}
		for e, err := range store.Read(ctx, run, max(trimmed.First, last+1)) {
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// event writes an event, after the definitions and the large value that it refers to.
func (a *Writer) event(ctx context.Context, store journal.Store, e *journal.Event) error {
	if e.Detail != nil && e.Detail.Start != nil {
		s := e.Detail.Start
		for _, hash := range append([]string{s.Workflow}, slices.Sorted(maps.Values(s.Children))...) {
			if err := a.definition(ctx, store, hash); err != nil {
				return err
			}
		}
	}
	blob, err := a.blob(e.Value)
	if err != nil {
		return err
	}
	l, err := lineOf(e, blob)
	if err != nil {
		return err
	}
	a.put(&line{Event: l})
	return a.err
}

func (a *Writer) definition(ctx context.Context, store journal.Store, hash string) error {
	stream, found := journal.DefinitionStream(hash), false
	if a.written[stream] {
		return nil
	}
	for e, err := range store.Read(ctx, stream, 1) {
		if err != nil {
			return err
		}
		document, err := value.Of(e.Value)
		if err != nil {
			return err
		}
		found = true
		a.put(&line{Definition: hash, Document: document})
	}
	if !found {
		return fmt.Errorf("%w: the workflow %s is missing", journal.ErrDamaged, hash)
	}
	a.written[stream] = true
	return a.err
}

// blob writes a large value, unless it was written before, and returns its hash; "" for all other values.
func (a *Writer) blob(v any) (string, error) {
	encoded, err := value.Encode(v)
	if err != nil || len(encoded) <= blobBytes {
		return "", err
	}
	hash := journal.Hash(sha256.Sum256(encoded))
	text := hex.EncodeToString(hash[:])
	if stream := hash.Stream(); !a.written[stream] {
		a.put(&line{Blob: text, Data: encoded})
		a.written[stream] = true
	}
	return text, a.err
}

func (a *Writer) contents(ctx context.Context, store journal.Store, run string, hashes iter.Seq2[journal.Hash, error]) error {
	keeper, ok := store.(journal.ContentStore)
	if !ok {
		return errors.New("the store keeps no content")
	}
	for hash, err := range hashes {
		if err != nil {
			return err
		}
		data, err := keeper.Content(ctx, run, hash)
		if err != nil {
			return err
		}
		a.put(&line{Content: hex.EncodeToString(hash[:]), Data: data})
	}
	return a.err
}

// put writes a line.
func (a *Writer) put(l *line) {
	if a.err != nil {
		return
	}
	var text []byte
	if text, a.err = encode(l); a.err != nil {
		return
	}
	a.digest.Write(text)
	_, a.err = a.w.Write(text)
}
