package disk_test

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// These tests change a store with Pebble: every record is valid for Pebble, and the store must detect the fault.

func eventsKey(stream string, first uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte("e"+stream+"\x00"), first)
}

// tampered makes a store with a run of the events 1 to 3, 4, and 5 to 6, of which 4 has a large value, closes it, calls
// tamper with the database, and opens the store again.
func tampered(t *testing.T, tamper func(db *pebble.DB)) *disk.Store {
	files := vfs.NewMem()
	s := open(t, "data", disk.Config{FS: files})
	mustAppend(t, s, "run", 0, append(append(one("1"), one("2")...), one("3")...))
	mustAppend(t, s, "run", 3, one(strings.Repeat("4", 40_000)))
	_, err := s.Append(context.Background(), "run", 4, append(one("5"), one("6")...), journal.Head{Run: "run", Status: "ok"})
	require.NoError(t, err)
	require.NoError(t, s.Close())

	db, err := pebble.Open("data/db", &pebble.Options{FS: files, FormatMajorVersion: pebble.FormatNewest})
	require.NoError(t, err)
	tamper(db)
	require.NoError(t, db.Close())
	s = open(t, "data", disk.Config{FS: files})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func get(t *testing.T, db *pebble.DB, key []byte) []byte {
	record, closer, err := db.Get(key)
	require.NoError(t, err)
	defer closer.Close()
	return slices.Clone(record)
}

// sealed returns record with the checksum that belongs to it under key.
func sealed(key, record []byte) []byte {
	table := crc32.MakeTable(crc32.Castagnoli)
	binary.BigEndian.PutUint32(record, crc32.Update(crc32.Checksum(key, table), table, record[4:]))
	return record
}

func TestDamageIsReportedWhereItIs(t *testing.T) {
	blob, _, err := journal.HashOf(strings.Repeat("4", 40_000))
	require.NoError(t, err)
	tests := map[string]struct {
		tamper func(t *testing.T, db *pebble.DB)
		good   int // events before the damage
		text   string
	}{
		"the first record is gone": {func(t *testing.T, db *pebble.DB) {
			require.NoError(t, db.Delete(eventsKey("run", 1), pebble.Sync))
		}, 0, "event 1 is missing, and the stream ends at 6"},
		"a record in the middle is gone": {func(t *testing.T, db *pebble.DB) {
			require.NoError(t, db.Delete(eventsKey("run", 4), pebble.Sync))
		}, 3, "event 4 is missing, and the stream ends at 6"},
		"the last record is gone": {func(t *testing.T, db *pebble.DB) {
			require.NoError(t, db.Delete(eventsKey("run", 5), pebble.Sync))
		}, 4, "event 5 is missing, and the stream ends at 6"},
		"a bit of a record is flipped": {func(t *testing.T, db *pebble.DB) {
			record := get(t, db, eventsKey("run", 5))
			record[len(record)-1] ^= 1
			require.NoError(t, db.Set(eventsKey("run", 5), record, pebble.Sync))
		}, 4, "record of event 5: journal: damaged record: its checksum is wrong"},
		"a record is empty": {func(t *testing.T, db *pebble.DB) {
			require.NoError(t, db.Set(eventsKey("run", 5), nil, pebble.Sync))
		}, 4, "record of event 5: journal: damaged record: its checksum is wrong"},
		"a record is in another's place": {func(t *testing.T, db *pebble.DB) {
			require.NoError(t, db.Set(eventsKey("run", 4), get(t, db, eventsKey("run", 1)), pebble.Sync))
		}, 3, "record of event 4: journal: damaged record: its checksum is wrong"},
		"a record has another's numbers": {func(t *testing.T, db *pebble.DB) {
			key := eventsKey("run", 4)
			require.NoError(t, db.Set(key, sealed(key, get(t, db, eventsKey("run", 1))), pebble.Sync))
		}, 3, "event 1 stands where 4 belongs"},
		"a record is not what events look like": {func(t *testing.T, db *pebble.DB) {
			key := eventsKey("run", 4)
			require.NoError(t, db.Set(key, sealed(key, []byte{0, 0, 0, 0, 1, 0xff}), pebble.Sync))
		}, 3, "decode event 0"},
		"a large value is gone": {func(t *testing.T, db *pebble.DB) {
			require.NoError(t, db.Delete(eventsKey(blob.Stream(), 1), pebble.Sync))
		}, 3, blob.Stream() + " is missing"},
		"a large value is another": {func(t *testing.T, db *pebble.DB) {
			key := eventsKey(blob.Stream(), 1)
			record := get(t, db, key)
			record[len(record)-1] ^= 1
			require.NoError(t, db.Set(key, sealed(key, record), pebble.Sync))
		}, 3, "the content of " + blob.Stream() + " has another hash"},
		"the head is gone": {func(t *testing.T, db *pebble.DB) {
			require.NoError(t, db.Delete([]byte("hrun"), pebble.Sync))
		}, 0, "it has events, but no head"},
		"a bit of the head is flipped": {func(t *testing.T, db *pebble.DB) {
			record := get(t, db, []byte("hrun"))
			record[12] ^= 1
			require.NoError(t, db.Set([]byte("hrun"), record, pebble.Sync))
		}, 0, "head of run: journal: damaged record: its checksum is wrong"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := tampered(t, func(db *pebble.DB) { test.tamper(t, db) })
			values, err := read(s, "run", 1)
			require.ErrorIs(t, err, journal.ErrDamaged)
			require.ErrorContains(t, err, "read run: ")
			require.ErrorContains(t, err, test.text)
			require.Len(t, values, test.good, "events before the damage are returned")
		})
	}
}

func TestDamagedHeadsAreReported(t *testing.T) {
	tests := map[string]struct {
		record []byte
		want   error
	}{
		"too short":       {[]byte{0, 0, 0, 0, 1, 0}, journal.ErrDamaged},
		"no head":         {[]byte{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 6, 0xff}, journal.ErrDamaged},
		"a newer version": {[]byte{0, 0, 0, 0, 4}, journal.ErrVersion},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := tampered(t, func(db *pebble.DB) {
				require.NoError(t, db.Set([]byte("hrun"), sealed([]byte("hrun"), test.record), pebble.Sync))
			})
			for h, err := range s.Heads(context.Background(), "") {
				require.ErrorIs(t, err, test.want)
				require.ErrorContains(t, err, "head of run")
				require.Equal(t, journal.Head{Run: "run"}, h)
			}
			if name == "no head" {
				return // an append needs only the last sequence in it, which is valid
			}
			_, err := s.Append(context.Background(), "run", 6, one("7"), journal.Head{})
			require.ErrorIs(t, err, test.want, "nothing is appended to a stream that cannot be read")
		})
	}
}

func TestADamagedCommitNumberIsReported(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, "data", disk.Config{FS: files})
	require.NoError(t, s.Close())
	db, err := pebble.Open("data/db", &pebble.Options{FS: files, FormatMajorVersion: pebble.FormatNewest})
	require.NoError(t, err)
	require.NoError(t, db.Set([]byte("commit"), []byte("rubbish"), pebble.Sync))
	require.NoError(t, db.Close())
	_, err = disk.Open("data", disk.Config{FS: files})
	require.ErrorIs(t, err, journal.ErrDamaged)
	require.ErrorContains(t, err, "number of the last commit")
}
