// Package audit records the requests to a host that changed something or were refused, in daily files of JSON lines that only the owner
// of the folder may read. They hold no inputs, outputs, messages or secrets. They are apart from the journal, and are kept for a year.
package audit

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Dir is the name of the folder in the folder of the journal.
const Dir = "audit"

// Kept is how long entries are kept.
const Kept = 365 * 24 * time.Hour

// Bounds: bytes that wait to be written, refusals that are recorded of each second (others are counted), and bytes of each text,
// which may come from an unknown client.
const (
	queueMax    = 8 << 20
	refusalsMax = 100
	textMax     = 512
)

// gatherTime is the time in which entries are gathered to be written together, so that the disk is synced seldom.
const gatherTime = 50 * time.Millisecond

// dayLayout is how a file is named, without its extension.
const dayLayout = "2006-01-02"

// Kinds of entries.
const (
	Act     = "act"     // a request that changes something; Code says why it has not
	Refused = "refused" // a request of a client that may not make it, or is not known
	Login   = "login"   // of a browser
	Logout  = "logout"  // of a browser
	Created = "token.created"
	Revoked = "token.revoked"
	Damaged = "damaged" // in place of a line that cannot be read
)

// Socket is the door of users on the machine itself.
const Socket = "socket"

// Kinds are all of them.
var Kinds = []string{Act, Refused, Login, Logout, Created, Revoked, Damaged}

// Entry is one act or one refusal.
type Entry struct {
	At         time.Time `json:"at"`                     // when it was answered
	Door       string    `json:"door,omitempty"`         // socket: that of the folder; absent: HTTP
	Kind       string    `json:"kind"`                   // act, refused, login, logout, token.created, token.revoked; damaged: a line that cannot be read
	Actor      string    `json:"actor,omitempty"`        // name of the token; absent: it is not known. Of an entry about a token, the one; by the socket, as the client says
	Role       string    `json:"role,omitempty"`         // its role
	OnBehalfOf string    `json:"on_behalf_of,omitempty"` // for whom, as the client says; absent: for himself
	From       string    `json:"from,omitempty"`         // address of the client
	Method     string    `json:"method,omitempty"`       // of HTTP
	Route      string    `json:"route,omitempty"`        // as openapi.json has it; by the socket, the verb
	Run        string    `json:"run,omitempty"`          // id of the run that it was about, or that was started
	Step       string    `json:"step,omitempty"`         // key of the step, or address of the cell
	Name       string    `json:"name,omitempty"`         // its other object: a workflow that was published, the id of a decision or of an act
	Status     int       `json:"status,omitempty"`       // of HTTP
	Code       string    `json:"code,omitempty"`         // of the problem; absent: it was done
	Request    string    `json:"request,omitempty"`      // id of the request, as the server's log has it
	Skipped    int       `json:"skipped,omitempty"`      // so many refusals before this one came too fast to be recorded
}

// Log is the audit of a folder. It is safe for concurrent use.
type Log struct {
	dir    string
	logger *slog.Logger
	now    func() time.Time

	mu      sync.Mutex
	room    sync.Cond // of queue
	queue   []byte
	lost    int       // failed writes, each of one or more entries
	second  time.Time // of the refusals that are counted
	refused int       // recorded of this second
	skipped int
	closed  bool

	wake    chan struct{}
	closing chan struct{}
	written chan struct{} // closed when the writer has ended

	day  string // of the file that is open; only the writer uses them
	file *os.File
}

// Open opens the audit of a folder of a journal, and deletes files that are too old. It must be closed.
func Open(dir string, logger *slog.Logger) (*Log, error) { return open(dir, logger, time.Now) }

func open(dir string, logger *slog.Logger, now func() time.Time) (*Log, error) {
	l := &Log{dir: filepath.Join(dir, Dir), logger: logger, now: now, wake: make(chan struct{}, 1), closing: make(chan struct{}), written: make(chan struct{})}
	l.room.L = &l.mu
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, err
	}
	if err := l.rotate(); err != nil {
		return nil, err
	}
	go l.write()
	return l, nil
}

// Note records an entry, at the present instant. It returns before the entry is durable; a moment later it is, together with others. It
// waits only if very many entries wait.
func (l *Log) Note(e Entry) {
	e.At = l.now().UTC()
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Kind == Refused && !l.admits(&e) {
		return
	}
	for _, text := range []*string{&e.Actor, &e.OnBehalfOf, &e.Run, &e.Step, &e.Name, &e.Method, &e.Request} {
		*text = cut(*text)
	}
	line, err := json.Marshal(&e)
	for err == nil && len(l.queue) > queueMax && !l.closed {
		l.room.Wait()
	}
	if err != nil || l.closed {
		return
	}
	l.queue = append(append(l.queue, line...), '\n')
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// cut returns the beginning of a text that is too long.
func cut(text string) string {
	if len(text) <= textMax {
		return text
	}
	return strings.ToValidUTF8(text[:textMax], "") + "…"
}

// admits counts a refusal, and reports whether it is recorded. The caller holds mu.
func (l *Log) admits(e *Entry) bool {
	if second := e.At.Truncate(time.Second); !second.Equal(l.second) {
		l.second, l.refused = second, 0
	}
	if l.refused == refusalsMax {
		l.skipped++
		return false
	}
	l.refused++
	e.Skipped, l.skipped = l.skipped, 0
	return true
}

// Close writes the waiting entries. Later ones are not recorded.
func (l *Log) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.closing)
		l.room.Broadcast()
	}
	l.mu.Unlock()
	<-l.written
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost > 0 {
		return errors.New("audit: some entries could not be written")
	}
	return nil
}

// write writes the waiting entries, all of them together, until the log is closed.
func (l *Log) write() {
	defer close(l.written)
	for open := true; open; {
		select {
		case <-l.wake:
			select {
			case <-time.After(gatherTime):
			case <-l.closing:
			}
		case <-l.closing:
			open = false
		}
		l.mu.Lock()
		lines := l.queue
		l.queue = nil
		l.room.Broadcast()
		l.mu.Unlock()
		if len(lines) == 0 {
			continue
		}
		if err := l.append(lines); err != nil {
			l.logger.Error("the audit cannot be written", "error", err, "bytes", len(lines))
			l.mu.Lock()
			l.lost++
			l.mu.Unlock()
			l.closeFile()
		}
	}
	l.closeFile()
}

// append makes lines durable. A failed write may leave the beginning of a line, which the next opening of the file cuts off.
func (l *Log) append(lines []byte) error {
	if err := l.rotate(); err != nil {
		return err
	}
	if _, err := l.file.Write(lines); err != nil {
		return err
	}
	return l.file.Sync()
}

// rotate opens the file of the day and deletes those that are too old, unless it has done so today.
func (l *Log) rotate() error {
	today := l.now().UTC().Format(dayLayout)
	if l.file != nil && today == l.day {
		return nil
	}
	l.closeFile()
	days, err := Days(l.dir)
	if err != nil {
		return err
	}
	oldest := l.now().UTC().Add(-Kept).Format(dayLayout)
	for _, day := range days {
		if day < oldest {
			if err := os.Remove(l.path(day)); err != nil {
				return err
			}
		}
	}
	if l.file, err = os.OpenFile(l.path(today), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return err
	}
	l.day = today
	return truncatePartial(l.file)
}

func (l *Log) closeFile() {
	if l.file != nil {
		_ = l.file.Close() // it is synced
		l.file = nil
	}
}

func (l *Log) path(day string) string { return filepath.Join(l.dir, day+".jsonl") }

// truncatePartial cuts off the beginning of a line at the end of a file, which a crash has left.
func truncatePartial(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	end, err := lineBefore(file, info.Size())
	if err != nil || end == info.Size() {
		return err
	}
	return file.Truncate(end)
}

// Days returns the days with entries in a folder, the oldest first.
func Days(dir string) ([]string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var days []string
	for _, f := range files {
		day, ok := strings.CutSuffix(f.Name(), ".jsonl")
		if _, err := time.Parse(dayLayout, day); ok && err == nil {
			days = append(days, day)
		}
	}
	slices.Sort(days)
	return days, nil
}
