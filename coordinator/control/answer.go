package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// takenTime bounds the time in which a holder acknowledges a request. A stopped or hanging process never does.
const takenTime = 5 * time.Second

// takenWithin is takenTime, a variable for tests.
var takenWithin = takenTime

// answer is the answer of a holder to one request.
type answer struct {
	conn    *net.UnixConn
	dir     string
	follows bool // the answer lasts as long as a run
	reads   bool // the request changes nothing
	begun   bool // part of the answer was passed on
	taken   bool
	late    bool // the request was not taken in time, and will not be
}

// ask sends the request and its attachment. The holder must take it within takenWithin, and with an attachment within
// uploadTime more.
func (a *answer) ask(line, attachment []byte) error {
	within := takenWithin
	if len(attachment) > 0 {
		within += uploadTime
	}
	err := a.conn.SetDeadline(time.Now().Add(within))
	if err == nil {
		_, err = a.conn.Write(line)
	}
	if err == nil && len(attachment) > 0 {
		if _, err = a.conn.Write(attachment); !errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil // a holder that refuses the request does not read all of it, and sends the reason
		}
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded): // the holder ignores an incomplete line
		return a.silent("nothing was done")
	case err != nil:
		return fmt.Errorf("%w any more: %w", api.ErrNotHeld, err)
	}
	return nil
}

// read reads the answer to its last line. A holder that ends before it has taken the request has done nothing, as if it had
// ended before the request was sent; likewise one that ends before it has answered a request that changes nothing.
func (a *answer) read(emit func(*api.Reply) error) error {
	for d := json.NewDecoder(bufio.NewReader(a)); ; {
		var r api.Reply
		switch err := d.Decode(&r); {
		case err != nil && a.taken && (a.late || errors.Is(err, os.ErrDeadlineExceeded)):
			return a.silent("it has taken the request, and may have carried it out or do so later")
		case err != nil && a.late:
			return a.silent("nothing was done, and nothing will be")
		case err != nil && (!a.taken || a.reads && !a.begun):
			return fmt.Errorf("%w any more: %w", api.ErrNotHeld, err)
		case err != nil:
			return fmt.Errorf("%w: %w", api.ErrHungUp, err)
		case r.Error != nil:
			return r.Error
		case r.Taken:
			a.taken = true
			if err := a.conn.SetDeadline(a.deadline()); err != nil {
				return err
			}
			continue
		}
		a.begun = true
		if err := emit(&r); err != nil || r.Done != nil {
			return err
		}
	}
}

// deadline returns when the answer to a request that was taken must be complete; zero: never.
func (a *answer) deadline() (at time.Time) {
	if !a.follows {
		at = time.Now().Add(answerTime)
	}
	return at
}

// Read reads from the holder. If the request has not been taken in time, the answer stops receiving: the holder then cannot
// acknowledge the request, and does nothing. Data received before is still read.
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.conn.Read(p)
	if a.taken || a.late || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	a.late = true
	if err := errors.Join(a.conn.CloseRead(), a.conn.SetReadDeadline(time.Time{})); err != nil {
		return 0, err
	}
	return a.conn.Read(p)
}

// silent returns the error about a holder that does not answer; done is the known effect of the request.
func (a *answer) silent(done string) error {
	return fmt.Errorf("%w (%s; it may be stopped): %s", api.ErrNoAnswer, records.HolderOf(a.dir), done)
}
