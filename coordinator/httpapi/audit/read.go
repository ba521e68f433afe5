package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// Query selects entries. An empty field selects all.
type Query struct {
	Kind   string // see Act and the others
	Actor  string // name of a token
	Run    string // id
	Cursor string // of the page before
	Limit  int    // at most so many
}

// Page is a part of the entries, the newest first.
type Page struct {
	Items []Entry `json:"items"`          // newest first
	Next  string  `json:"next,omitempty"` // cursor of the next part; absent: this is the last
}

// ErrCursor is the error about a cursor that is not of this list.
var ErrCursor = errors.New("audit: it is no cursor of this list")

// blockBytes is the number of bytes that are read at once.
const blockBytes = 64 << 10

// lineMax bounds a line.
const lineMax = 1 << 20

// place is the beginning of a line: the lines from there on were listed.
type place struct {
	day string
	at  int64
}

func (p place) String() string { return p.day + "-" + strconv.FormatInt(p.at, 10) }

func parsePlace(text string) (p place, err error) {
	i := strings.LastIndexByte(text, '-')
	if i < 0 {
		return p, fmt.Errorf("%w: %q", ErrCursor, text)
	}
	p.day = text[:i]
	_, err = time.Parse(dayLayout, p.day)
	if err == nil {
		p.at, err = strconv.ParseInt(text[i+1:], 10, 64)
	}
	if err != nil || p.at < 0 {
		return p, fmt.Errorf("%w: %q", ErrCursor, text)
	}
	return p, nil
}

// Read returns a part of the entries. Entries that come meanwhile do not change the parts behind it.
func (l *Log) Read(ctx context.Context, q Query) (*Page, error) {
	page := &Page{Items: []Entry{}}
	var from place
	if q.Cursor != "" {
		var err error
		if from, err = parsePlace(q.Cursor); err != nil {
			return nil, err
		}
	}
	days, err := Days(l.dir)
	if err != nil {
		return nil, err
	}
	for i := len(days) - 1; i >= 0; i-- {
		if q.Cursor != "" && days[i] > from.day {
			continue
		}
		at := int64(-1)
		if days[i] == from.day {
			at = from.at
		}
		if full, err := l.readDay(ctx, days[i], at, &q, page); full || err != nil {
			return page, err
		}
	}
	return page, nil
}

// readDay adds the entries of a day before an offset; -1 is all. It reports whether the page is full.
func (l *Log) readDay(ctx context.Context, day string, before int64, q *Query, page *Page) (full bool, err error) {
	file, err := os.Open(l.path(day))
	if errors.Is(err, fs.ErrNotExist) { // it has become too old meanwhile
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	end, err := lineBefore(file, info.Size()) // a line that is being written has not ended
	if err != nil {
		return false, err
	}
	if before >= 0 {
		if start, err := lineBefore(file, min(before, end)); err != nil || start != before {
			return false, errors.Join(fmt.Errorf("%w: it lies within an entry, or behind them", ErrCursor), err)
		}
		end = before
	}
	for end > 0 && ctx.Err() == nil {
		start, err := lineBefore(file, end-1)
		if err != nil {
			return false, err
		}
		line := make([]byte, end-start)
		if _, err := file.ReadAt(line, start); err != nil {
			return false, err
		}
		if e := decoded(line); q.wants(&e) {
			if len(page.Items) == q.Limit {
				page.Next = place{day, end}.String()
				return true, nil
			}
			page.Items = append(page.Items, e)
		}
		end = start
	}
	return false, ctx.Err()
}

// lineBefore returns the beginning of the line that has a position in it. It returns a position after a line as it is.
func lineBefore(file *os.File, at int64) (int64, error) {
	for end := at; end > 0; {
		block := make([]byte, min(end, blockBytes))
		if _, err := file.ReadAt(block, end-int64(len(block))); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(block, '\n'); i >= 0 {
			return end - int64(len(block)) + int64(i) + 1, nil
		}
		if end -= int64(len(block)); at-end > lineMax {
			return 0, fmt.Errorf("audit: a line of %s has more than %d bytes", file.Name(), lineMax)
		}
	}
	return 0, nil
}

func decoded(line []byte) Entry {
	var e Entry
	if json.Unmarshal(line, &e) != nil || e.At.IsZero() || e.Kind == "" {
		return Entry{Kind: Damaged}
	}
	return e
}

func (q *Query) wants(e *Entry) bool {
	return e.Kind == Damaged || (q.Kind == "" || q.Kind == e.Kind) && (q.Actor == "" || q.Actor == e.Actor) && (q.Run == "" || q.Run == e.Run)
}
