package transfer_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/holds"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/transfer"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/archive"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// transferOf returns a Transfer of a store, without an engine.
func transferOf(t testing.TB, store journal.Store) *transfer.Transfer {
	r, err := registry.New(store, registry.Config{})
	require.NoError(t, err)
	return transfer.New(transfer.Config{Store: store, Registry: r, Holds: holds.New(store), Lock: &sync.Mutex{}})
}

var sum = regexp.MustCompile(`"sha256":"[^"]*"`)

var (
	numbered = regexp.MustCompile(`^\{"event":\{"seq":\d+,`)
	typed    = regexp.MustCompile(`"type":"[^"]*"`)
)

// forged returns files in which an event is of another type, or comes one later.
func forged(file []byte) (files [][]byte) {
	lines := strings.SplitAfter(string(file), "\n")
	with := func(i int, changed ...string) {
		files = append(files, []byte(strings.Join(slices.Replace(slices.Clone(lines), i, i+len(changed), changed...), "")))
	}
	for i, line := range lines {
		begin := numbered.FindString(line)
		if begin == "" {
			continue
		}
		for _, other := range []journal.Type{journal.TimerFired, journal.CallRequested, journal.CallResponded, journal.DispatchSettled} {
			with(i, typed.ReplaceAllString(line, `"type":"`+other.String()+`"`))
		}
		if next := numbered.FindString(lines[i+1]); next != "" {
			with(i, begin+strings.TrimPrefix(lines[i+1], next), next+strings.TrimPrefix(line, begin))
		}
	}
	return files
}

// repaired returns a file in which the hashes of the runs fit their lines: its other faults must be found by other checks.
func repaired(file []byte) []byte {
	digest := sha256.New()
	var out bytes.Buffer
	for line := range strings.Lines(string(file)) {
		switch {
		case strings.HasPrefix(line, `{"run":`):
			digest.Reset()
		case strings.HasPrefix(line, `{"end":`):
			line = sum.ReplaceAllString(line, `"sha256":"`+hex.EncodeToString(digest.Sum(nil))+`"`)
		}
		digest.Write([]byte(line))
		out.WriteString(line)
	}
	return out.Bytes()
}

// Any bytes are refused as a whole, or exported as the same bytes again; the runs can then be seen.
func FuzzImport(f *testing.F) {
	source := engine(f, memory.New())
	for _, id := range populate(f, source) {
		if id != "large" {
			f.Add(export(f, source, id))
		}
	}
	whole := export(f, source, "done", "waits", "above")
	f.Add(whole)
	for _, file := range forged(export(f, source, "done")) {
		f.Add(file)
	}
	end(source)
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, file := range [][]byte{file, repaired(file)} {
			imports(t, file)
		}
	})
}

func imports(t testing.TB, file []byte) {
	ctx, store := context.Background(), memory.New()
	to := transferOf(t, store)
	runs, err := to.Import(ctx, bytes.NewReader(file), "ann")
	if err != nil {
		require.ErrorIs(t, err, archive.ErrRefused)
		require.Less(t, len(err.Error()), 1000)
		require.NotContains(t, err.Error(), "panic:")
		require.Empty(t, everything(t, store))
		for range store.Read(ctx, journal.HeldStream(), 1) {
			t.Fatal("a refused file has held a run")
		}
		return
	}
	ids := make([]string, len(runs))
	for i := range runs {
		ids[i] = runs[i].Run
	}
	var again bytes.Buffer
	require.NoError(t, to.Export(ctx, &again, ids...))
	require.Equal(t, string(file), again.String())
	confirmed, err := to.Import(ctx, bytes.NewReader(file), "ann")
	require.NoError(t, err)
	for _, r := range confirmed {
		require.True(t, r.There, fmt.Sprint(r))
	}
	readable(t, store, ids)
}

// readable checks that no view of an imported run panics: its journal may be one that no engine writes.
func readable(t testing.TB, store journal.Store, runs []string) {
	e, err := coordinator.New(context.Background(), store, coordinator.Config{NotesOnly: true, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer end(e)
	for _, id := range runs {
		r, err := e.Run(context.Background(), id)
		require.NoError(t, err)
		_, stateErr := r.State(context.Background())
		_, graphErr := r.CallGraph(context.Background())
		for _, err := range []error{stateErr, graphErr} {
			if err != nil {
				require.NotContains(t, err.Error(), "panic:")
			}
		}
	}
}
