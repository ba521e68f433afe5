package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// blobBytes is the size of an encoded value beyond which it has a separate line.
const blobBytes = 32 << 10

// Writer writes runs.
type Writer struct {
	w       io.Writer
	left    int             // runs to come
	written map[string]bool // streams of the definitions and large values
	digest  hash.Hash       // of the lines of the run
	err     error           // the first one
}

// NewWriter returns a Writer of a file that will have the given number of runs. It writes the first line at once.
func NewWriter(w io.Writer, runs int) *Writer {
	a := &Writer{w: w, left: runs, written: map[string]bool{}, digest: sha256.New()}
	a.put(&line{Sluice: "runs", Version: formatVersion, Runs: runs})
	return a
}

// Contents returns the hashes of the content that a world needs, given the start of its run and the events of its snapshots.
type Contents func(start *journal.Start, snapshots []journal.Event) ([]journal.Hash, error)

// Run writes the current state of one run in the store. It calls contents if the run has snapshots.
func (a *Writer) Run(ctx context.Context, store journal.Store, run string, contents Contents) error {
	if a.left--; a.left < 0 && a.err == nil {
		a.err = fmt.Errorf("archive: run %s is one more than the file was to have", run)
	}
	a.digest.Reset()
	a.put(&line{Run: run})
	last := uint64(0)
	var start *journal.Start
	var snapshots []journal.Event
	for e, err := range journal.Remaining(ctx, store, run, 1) {
		if err == nil && last > 1 && e.Seq != last+1 {
			err = fmt.Errorf("%w while they were read: export the run again", journal.ErrTrimmed)
		}
		if err == nil {
			err = a.event(ctx, store, &e)
		}
		if err != nil {
			return fmt.Errorf("export run %s: %w", run, err)
		}
		if last = e.Seq; e.Type == journal.WorldSnapshotted {
			snapshots = append(snapshots, e)
		} else if e.Seq == 1 && e.Detail != nil {
			start = e.Detail.Start
		}
	}
	if last == 0 || start == nil {
		return fmt.Errorf("export run %s: %w: it does not begin with its start", run, journal.ErrNotFound)
	}
	if len(snapshots) > 0 {
		hashes, err := contents(start, snapshots)
		if err == nil {
			err = a.contents(ctx, store, run, hashes)
		}
		if err != nil {
			return fmt.Errorf("export run %s: %w", run, err)
		}
	}
	a.put(&line{End: run, Events: last, SHA256: hex.EncodeToString(a.digest.Sum(nil))})
	return a.err
}

// Close returns an error if runs are missing. It does not close the file.
func (a *Writer) Close() error {
	if a.err == nil && a.left > 0 {
		a.err = fmt.Errorf("archive: %d runs are missing", a.left)
	}
	return a.err
}

// event writes an event, after the definitions and the large value that it refers to.
func (a *Writer) event(ctx context.Context, store journal.Store, e *journal.Event) error {
	if e.Detail != nil && e.Detail.Start != nil {
		for _, hash := range definitionsOf(e.Detail.Start) {
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

// definitionsOf returns the hashes of the workflows that a run needs, in the order of writing.
func definitionsOf(s *journal.Start) []string {
	return append([]string{s.Workflow}, slices.Sorted(maps.Values(s.Children))...)
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

// contents writes content in the order of its hashes.
func (a *Writer) contents(ctx context.Context, store journal.Store, run string, hashes []journal.Hash) error {
	keeper, ok := store.(journal.ContentStore)
	if !ok {
		return errors.New("the store keeps no content")
	}
	slices.SortFunc(hashes, func(a, b journal.Hash) int { return bytes.Compare(a[:], b[:]) })
	for _, hash := range slices.Compact(hashes) {
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
