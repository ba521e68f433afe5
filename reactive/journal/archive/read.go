package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Item is what one line holds. Exactly one of its fields after Run is set, but for Blob of an Event; none of the first line of a run.
type Item struct {
	Run        string         // that it belongs to
	Definition *Stored        // a workflow
	Value      *Stored        // a large value
	Content    []byte         // of a snapshot
	Event      *journal.Event // with its value, unless Blob names it
	Blob       journal.Hash   // of Event: its value is the large one with this hash; zero: it has none
	End        bool           // the run is whole
}

// Stored is the content of a stream that never changes, as a value of package value.
type Stored struct {
	Stream string // `def/<hash>` or `blob/<hash>`
	Value  any    // the workflow, or the large value
}

// Reader reads runs, and checks what it reads.
type Reader struct {
	r      *bufio.Reader
	number int // of the line, from 1
	left   int // runs to come
	run    string
	last   uint64 // sequence of the last event
	known  map[string]bool
	digest hash.Hash
}

// NewReader returns a Reader of a file.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 1<<16), known: map[string]bool{}, digest: sha256.New()}
}

// Items yields what the file holds, line by line. An error ends it; it wraps ErrRefused and names the line, unless reading failed.
func (a *Reader) Items() iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		err := a.first()
		for err == nil && a.left > 0 {
			var item Item
			if item, err = a.next(); err == nil && !yield(item, nil) {
				return
			}
		}
		if err == nil {
			err = a.nothingLeft()
		}
		if err != nil {
			yield(Item{}, err)
		}
	}
}

func (a *Reader) fault(format string, args ...any) error {
	return fmt.Errorf("%w: line %d: %w", ErrRefused, a.number, fmt.Errorf(format, args...))
}

// first reads the line that begins the file.
func (a *Reader) first() error {
	l, text, err := a.line()
	switch {
	case errors.Is(err, io.EOF):
		return a.fault("the file is empty; a file of exported runs begins with %s", `{"sluice":"runs",…}`)
	case err != nil:
		return err
	case l.Sluice != "runs":
		return a.fault("a file of exported runs begins with %s", `{"sluice":"runs",…}`)
	case l.Version != formatVersion:
		return a.fault("version %d of the format; this version of Sluice reads %d", l.Version, formatVersion)
	case l.Runs < 0:
		return a.fault("%d runs", l.Runs)
	}
	a.left = l.Runs
	return a.unchanged(l, text)
}

// unchanged refuses a line that is not written as a Writer writes it. The lines between the first and the last of a run have their
// hash for that.
func (a *Reader) unchanged(l *line, text []byte) error {
	written, err := encode(l)
	if err == nil && !bytes.Equal(written, text) {
		err = a.fault("the line was changed: it should be %s", bytes.TrimSpace(written))
	}
	return err
}

// nothingLeft refuses what follows the last run.
func (a *Reader) nothingLeft() error {
	a.number++
	if _, err := a.r.ReadByte(); err == nil {
		return a.fault("there is more after the last run")
	} else if err != io.EOF {
		return err
	}
	return nil
}

// next reads the next line and checks that it fits those before it.
func (a *Reader) next() (item Item, err error) {
	l, text, err := a.line()
	if errors.Is(err, io.EOF) {
		return item, a.fault("the file ends here, and has been cut short: %s", a.missing())
	}
	if err != nil {
		return item, err
	}
	if a.run == "" || l.Run != "" {
		if err = a.begin(l); err == nil {
			a.digest.Reset()
			a.digest.Write(text)
		}
		return Item{Run: a.run}, err
	}
	if l.End == "" {
		a.digest.Write(text)
	} else if err = a.unchanged(l, text); err != nil {
		return item, err
	}
	return a.item(l)
}

func (a *Reader) missing() string {
	if a.run != "" {
		return "run " + a.run + " has no end"
	}
	return fmt.Sprintf("%d runs are missing", a.left)
}

func (a *Reader) begin(l *line) error {
	if l.Run == "" || a.run != "" {
		return a.fault("a run ends before the next one begins")
	}
	if a.known[l.Run] {
		return a.fault("run %s is there twice", l.Run)
	}
	a.known[l.Run] = true
	a.run, a.last = l.Run, 0
	return nil
}

// item returns what a line within a run holds.
func (a *Reader) item(l *line) (item Item, err error) {
	item.Run = a.run
	switch {
	case l.Event != nil:
		item.Event, item.Blob, err = a.event(l.Event)
	case l.Definition != "":
		var hash journal.Hash
		if hash, err = parseHash(l.Definition); err == nil {
			item.Definition, err = a.stored(journal.DefinitionStream(l.Definition), hash, l.Document)
		}
	case l.Blob != "":
		item.Value, err = a.blob(l.Blob, l.Data)
	case l.Content != "":
		var hash journal.Hash
		if hash, err = parseHash(l.Content); err == nil && sha256.Sum256(l.Data) != hash {
			err = errors.New("the content has another hash")
		}
		item.Content = l.Data
	case l.End != "":
		item.End, err = true, a.end(l)
	default:
		err = errors.New("the line holds nothing that belongs to a run")
	}
	if err != nil {
		return item, a.fault("%w", err)
	}
	return item, nil
}

func (a *Reader) event(l *eventLine) (*journal.Event, journal.Hash, error) {
	var blob journal.Hash
	e, err := l.event()
	switch {
	case err != nil:
		return nil, blob, err
	case e.Type == journal.ContentStored:
		return nil, blob, fmt.Errorf("%s is no event of a run", e.Type)
	case e.Seq == 1 && a.last == 0:
		if err = a.start(&e); err != nil {
			return nil, blob, err
		}
	case e.Seq <= a.last, e.Seq != a.last+1 && a.last != 1:
		return nil, blob, fmt.Errorf("event %d follows event %d", e.Seq, a.last)
	}
	a.last = e.Seq
	if l.Blob == "" {
		return &e, blob, nil
	}
	if blob, err = parseHash(l.Blob); err == nil && !a.known[blob.Stream()] {
		err = fmt.Errorf("the value of event %d, %s, is not in the file", e.Seq, l.Blob)
	}
	return &e, blob, err
}

// start checks the first event of a run.
func (a *Reader) start(e *journal.Event) error {
	if e.Type != journal.RunStarted || e.Detail == nil || e.Detail.Start == nil || e.Detail.Start.Run != a.run {
		return fmt.Errorf("run %s does not begin with its start", a.run)
	}
	s := e.Detail.Start
	if !a.known[journal.DefinitionStream(s.Workflow)] {
		return fmt.Errorf("the workflow of run %s, %s, is not in the file", a.run, s.Workflow)
	}
	for _, hash := range s.Children {
		if !a.known[journal.DefinitionStream(hash)] {
			return fmt.Errorf("a child workflow of run %s, %s, is not in the file", a.run, hash)
		}
	}
	return nil
}

func (a *Reader) blob(name string, encoded []byte) (*Stored, error) {
	hash, err := parseHash(name)
	if err != nil {
		return nil, err
	}
	if sha256.Sum256(encoded) != hash {
		return nil, errors.New("the value has another hash")
	}
	v, err := value.Decode(encoded)
	if err != nil {
		return nil, err
	}
	return a.stored(hash.Stream(), hash, v)
}

// stored returns content after it has compared it with its hash.
func (a *Reader) stored(stream string, hash journal.Hash, v any) (*Stored, error) {
	v, err := value.Of(v)
	if err != nil {
		return nil, err
	}
	if actual, _, err := journal.HashOf(v); err != nil {
		return nil, err
	} else if actual != hash {
		return nil, errors.New("the document has another hash")
	}
	a.known[stream] = true
	return &Stored{Stream: stream, Value: v}, nil
}

func (a *Reader) end(l *line) error {
	switch {
	case l.End != a.run:
		return fmt.Errorf("run %s ends, and run %s has begun", l.End, a.run)
	case a.last == 0:
		return fmt.Errorf("run %s has no events", a.run)
	case l.Events != a.last:
		return fmt.Errorf("the last event of run %s is %d, and should be %d", a.run, a.last, l.Events)
	case l.SHA256 != hex.EncodeToString(a.digest.Sum(nil)):
		return fmt.Errorf("the lines of run %s have another hash: they were changed", a.run)
	}
	a.run = ""
	a.left--
	return nil
}

// line reads the next line; text is valid until the next call.
func (a *Reader) line() (l *line, text []byte, err error) {
	a.number++
	for {
		part, err := a.r.ReadSlice('\n')
		if text = append(text, part...); len(text) > LineMax {
			return nil, nil, a.fault("it has more than %d bytes", LineMax)
		}
		switch {
		case err == nil:
			l, err = decode(text)
			if err != nil {
				return nil, nil, a.fault("%w", err)
			}
			return l, text, nil
		case err == io.EOF && len(text) > 0:
			return nil, nil, a.fault("the file has been cut short within the line")
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, nil, err
		}
	}
}

// decode reads one object, and refuses fields that it does not know: a newer program may have written them.
func decode(text []byte) (*line, error) {
	var l line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(&l); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is more after the object")
	}
	return &l, nil
}
