package disk_test

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// spoiling changes a closed store with three commits into one of the states that the documentation of the package lists.
type spoiling struct {
	spoil func(t *testing.T, dir string)
	open  error // of Open; nil: it opens
	read  int   // events that can be read once it is open
	mends bool  // a Raw makes it open again
}

func put(name, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

func without(names ...string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		for _, name := range names {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
		}
	}
}

// foreign replaces the store by the folder of another program.
func foreign(t *testing.T, dir string) {
	without("VERSION", "COMMIT", "db")(t, dir)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "db"), 0o700))
	put(filepath.Join("db", "users.sql"), "theirs")(t, dir)
}

// marked returns the content of COMMIT with a number.
func marked(number uint64) string {
	text := binary.BigEndian.AppendUint64(nil, number)
	return string(binary.BigEndian.AppendUint32(text, crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli))))
}

// record returns a function that writes a record of the database, or removes it.
func record(key []byte, content string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		db, err := pebble.Open(filepath.Join(dir, "db"), &pebble.Options{FormatMajorVersion: pebble.FormatNewest})
		require.NoError(t, err)
		if content == "" {
			require.NoError(t, db.Delete(key, pebble.Sync))
		} else {
			require.NoError(t, db.Set(key, []byte(content), pebble.Sync))
		}
		require.NoError(t, db.Close())
	}
}

// lacking makes the files of a process that was killed after three commits, the second only in Pebble's own log, and damages the
// second.
func lacking(t *testing.T, dir string) {
	without("LOCK", "VERSION", "COMMIT", "db")(t, dir)
	running := t.TempDir()
	s := open(t, running, disk.Config{})
	for after, text := range []string{"x", strings.Repeat("x", 20_000), "x"} {
		mustAppend(t, s, "run", uint64(after), one(text))
	}
	copyRunning(t, dir, running)
	require.NoError(t, s.Close())
	logs, err := filepath.Glob(filepath.Join(dir, "db", "??????.log"))
	require.NoError(t, err)
	require.Len(t, logs, 1)
	text, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	text[10_000] ^= 1
	require.NoError(t, os.WriteFile(logs[0], text, 0o600))
}

var spoilings = map[string]spoiling{
	"an empty directory":                {spoil: without("LOCK", "VERSION", "COMMIT", "db"), read: 0},
	"a LOCK of a process that has died": {spoil: put("LOCK", "4194304\n"), read: 3},
	"no VERSION, and no database":       {spoil: without("VERSION", "COMMIT", "db"), read: 0},
	"no VERSION, but a database":        {spoil: without("VERSION"), open: journal.ErrDamaged},
	"no VERSION, but a COMMIT":          {spoil: without("VERSION", "db"), open: journal.ErrDamaged},
	"no VERSION, but a db of others":    {spoil: foreign, open: journal.ErrDamaged},
	"a VERSION of a later program":      {spoil: put("VERSION", "sluice journal 3\n"), open: journal.ErrVersion},
	"a VERSION that is rubbish":         {spoil: put("VERSION", "rubbish"), open: journal.ErrDamaged},
	"no COMMIT":                         {spoil: without("COMMIT"), read: 3},
	"a COMMIT that is rubbish":          {spoil: put("COMMIT", "rubbish"), open: journal.ErrDamaged, mends: true},
	"a COMMIT behind the database":      {spoil: put("COMMIT", marked(1)), read: 3},
	"a COMMIT ahead of the database":    {spoil: put("COMMIT", marked(4)), open: journal.ErrDamaged},
	"a COMMIT, but no database":         {spoil: without("db"), open: journal.ErrDamaged},
	"a log that lacks a batch":          {spoil: lacking, open: journal.ErrDamaged},
	"no commit number in the database":  {spoil: record([]byte("commit"), ""), open: journal.ErrDamaged, mends: true},
	"a commit number that is rubbish":   {spoil: record([]byte("commit"), "rubbish"), open: journal.ErrDamaged, mends: true},
	"a head that is rubbish":            {spoil: record([]byte("hrun"), "rubbish"), read: 0},
	"a batch that is rubbish":           {spoil: record(eventsKey("run", 2), "rubbish"), read: 1},
	"a content that is rubbish":         {spoil: record(contentKey("run", "x"), "rubbish"), read: 3},
}

// Open treats each documented state of a directory as documented.
func TestRecoveryDoesWhatIsDocumented(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	section := regexp.MustCompile(`(?s)// # Recovery.*?// # `).FindString(string(text))
	rows := regexp.MustCompile(`//\t((?:an?|no) .*?)   *(\S.*)`).FindAllStringSubmatch(section, -1)
	require.Len(t, rows, len(spoilings))
	for _, row := range rows {
		t.Run(row[1], func(t *testing.T) {
			c, ok := spoilings[row[1]]
			require.True(t, ok, "no test for it")
			require.Equal(t, c.open != nil, regexp.MustCompile(`^refused with Err(Damaged|Version)`).MatchString(row[2]), row[2])
			dir := t.TempDir()
			s := open(t, dir, disk.Config{})
			for after := range uint64(3) {
				_, err := s.Append(context.Background(), "run", after, one("x"), journal.Head{Run: "run", Status: "ok"})
				require.NoError(t, err)
			}
			require.NoError(t, s.Close())
			c.spoil(t, dir)
			before := contents(t, dir)
			s, err = disk.Open(dir, disk.Config{})
			if c.open == nil {
				require.NoError(t, err)
				checkOpen(t, s, c.read)
				return
			}
			require.ErrorIs(t, err, c.open)
			require.Equal(t, before, contents(t, dir), "it is left as it is")
			mend(t, dir, c.mends)
		})
	}
}

// contents returns the contents of the files that Sluice itself writes, except LOCK, and an entry for the database, if there is
// one.
func contents(t *testing.T, dir string) map[string]string {
	all := map[string]string{}
	for _, name := range []string{"VERSION", "COMMIT"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			all[name] = string(text)
		}
	}
	if names, err := os.ReadDir(filepath.Join(dir, "db")); err == nil && len(names) > 0 {
		all["db"] = "a database"
	}
	return all
}

// checkOpen reads and writes a store that was opened.
func checkOpen(t *testing.T, s *disk.Store, events int) {
	values, err := read(s, "run", 1)
	require.Len(t, values, events)
	if err != nil {
		require.ErrorIs(t, err, journal.ErrDamaged)
	}
	mustAppend(t, s, "other", 0, one("y"))
	require.NoError(t, s.Close())
}

// mend mends the commit numbers with a Raw, and opens the store again if mends is true.
func mend(t *testing.T, dir string, mends bool) {
	r, err := disk.OpenRaw(dir, true, disk.Config{})
	if err == nil {
		require.NoError(t, r.MendCommits())
		require.NoError(t, r.Close())
	}
	s, err := disk.Open(dir, disk.Config{})
	if !mends {
		require.Error(t, err)
		return
	}
	require.NoError(t, err)
	checkOpen(t, s, 3)
}
