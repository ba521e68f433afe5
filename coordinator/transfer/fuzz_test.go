package transfer_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

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

// Any bytes are refused as a whole, or exported as the same bytes again.
func FuzzImport(f *testing.F) {
	source := engine(f, memory.New())
	for _, id := range populate(f, source) {
		if id != "large" {
			f.Add(export(f, source, id))
		}
	}
	f.Add(export(f, source, "done", "waits", "above"))
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
}
