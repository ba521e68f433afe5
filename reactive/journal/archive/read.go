package archive

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Item is the content of one line. Exactly one of the fields after Run is set, or Event with Blob; the first line of a run sets
// none.
type Item struct {
	Line   int    // from 1
	Offset int64  // beginning of the line
	Size   int    // of the line, in bytes
	Run    string // run that it belongs to

	Definition *Stored        // a workflow
	Value      *Stored        // a large value
	Content    []byte         // of a snapshot
	Event      *journal.Event // with its value, unless Blob is set
	Blob       journal.Hash   // of Event: hash of its large value; zero: none
	End        bool           // the run is complete
}

// Stored is the content of a stream that never changes, as a value of package value.
type Stored struct {
	Stream string // `def/<hash>` or `blob/<hash>`
	Value  any    // the workflow, or the large value
}

// Reader reads and checks runs.
type Reader struct {
	lines  lines
	at     place // of the line
	left   int   // runs to come
	known  map[string]bool
	digest hash.Hash
	inRun
}

// place is the place of a line.
type place struct {
	number int   // from 1
	offset int64 // of its first byte
	size   int
}

// inRun is the progress in the current run.
type inRun struct {
	run         string   // "": no run has begun
	last        uint64   // sequence of the last event
	definitions []string // hashes of the definitions before the next event that needs them
	blob        string   // hash of the large value that the next event must have; "": any
	content     []byte   // hash of the last content; nil: events may follow
}

// NewReader returns a Reader of a file.
func NewReader(r io.Reader) *Reader {
	return &Reader{lines: lines{r: bufio.NewReaderSize(r, 1<<16)}, known: map[string]bool{}, digest: sha256.New()}
}

// Items yields the items of the file, line by line. An error ends it; it is an *Error, unless reading failed.
func (a *Reader) Items() iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		err := a.first()
		for err == nil && a.left > 0 {
			var item Item
			item, err = a.next()
			item.Line, item.Offset, item.Size = a.at.number, a.at.offset, a.at.size
			if err == nil && !yield(item, nil) {
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
	return &Error{Line: a.at.number, Cause: fmt.Errorf(format, args...)}
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
		return a.fault("the file has version %d of the format, and this version of Sluice reads %d; use the one that has exported it", l.Version, formatVersion)
	case l.Runs < 0:
		return a.fault("a file has no %d runs", l.Runs)
	}
	a.left = l.Runs
	return a.unchanged(&line{Sluice: l.Sluice, Version: l.Version, Runs: l.Runs}, text)
}

// unchanged refuses a line that differs from the Writer's line, because imported runs must be exported as the same bytes.
func (a *Reader) unchanged(l *line, text []byte) error {
	written, err := encode(l)
	if err == nil && !bytes.Equal(written, text) {
		err = a.fault("the line was changed; it should be %s", bytes.TrimSpace(written))
	}
	return err
}

// nothingLeft refuses data behind the last run.
func (a *Reader) nothingLeft() error {
	a.at.number++
	if _, err := a.lines.r.ReadByte(); err == nil {
		return a.fault("there is more after the last run; take the file as it was exported")
	} else if err != io.EOF {
		return err
	}
	return nil
}

// next reads the next line and checks that it fits the lines before it.
func (a *Reader) next() (item Item, err error) {
	l, text, err := a.line()
	if errors.Is(err, io.EOF) {
		return item, a.fault("the file ends here, and has been cut short: %s; export the runs again, or copy the whole file", a.missing())
	}
	if err != nil {
		return item, err
	}
	if a.run == "" || l.Run != "" {
		if err = a.begin(l); err == nil {
			a.digest.Reset()
			a.digest.Write(text)
			err = a.unchanged(&line{Run: l.Run}, text)
		}
		return Item{Run: a.run}, err
	}
	if l.End == "" {
		a.digest.Write(text)
	}
	if item, err = a.item(l); err == nil {
		err = a.unchanged(l.own(), text)
	}
	return item, err
}

func (a *Reader) missing() string {
	if a.run != "" {
		return "run " + a.run + " has no end"
	}
	if a.left == 1 {
		return "one run is missing"
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
	a.inRun = inRun{run: l.Run}
	return nil
}

// item returns the item in a line within a run. It converts the values in the line to values of package value.
func (a *Reader) item(l *line) (item Item, err error) {
	item.Run = a.run
	switch {
	case a.blob != "" && (l.Event == nil || l.Event.Blob != a.blob):
		err = fmt.Errorf("the large value %s stands before no event that has it", a.blob)
	case a.content != nil && l.Content == "" && l.End == "":
		err = errors.New("content of snapshots stands behind the events")
	case a.last > 0 && len(a.definitions) > 0 && l.Definition == "" && l.Blob == "" && (l.Event == nil || l.Event.Type != journal.RunMoved.String()):
		err = fmt.Errorf("the workflow %s stands before no event that needs it", a.definitions[0])
	case l.Event != nil:
		item.Event, item.Blob, err = a.event(l.Event)
	case l.Definition != "":
		item.Definition, err = a.definition(l)
	case l.Blob != "":
		item.Value, err = a.large(l.Blob, l.Data)
	case l.Content != "":
		item.Content, err = l.Data, a.contentOf(l)
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

func (a *Reader) definition(l *line) (*Stored, error) {
	hash, err := parseHash(l.Definition)
	if err != nil {
		return nil, err
	}
	stored, err := a.stored(journal.DefinitionStream(l.Definition), hash, l.Document)
	if err != nil {
		return nil, err
	}
	l.Document = stored.Value
	a.definitions = append(a.definitions, l.Definition)
	return stored, nil
}

// contentOf checks the content of a snapshot.
func (a *Reader) contentOf(l *line) error {
	hash, err := parseHash(l.Content)
	switch {
	case err != nil:
		return err
	case a.last == 0:
		return errors.New("content of snapshots stands behind the events")
	case len(l.Data) == 0 || len(l.Data) > journal.ContentMaxBytes:
		return fmt.Errorf("content has %d bytes, and 1 to %d are possible", len(l.Data), journal.ContentMaxBytes)
	case sha256.Sum256(l.Data) != hash:
		return changed("content", hash, sha256.Sum256(l.Data))
	case bytes.Compare(hash[:], a.content) <= 0:
		return errors.New("content is in the order of its hashes, each once")
	}
	a.content = hash[:]
	return nil
}

func (a *Reader) event(l *eventLine) (*journal.Event, journal.Hash, error) {
	var blob journal.Hash
	e, err := l.event()
	switch {
	case err != nil:
		return nil, blob, err
	case e.Seq == 1 && a.last == 0:
		if err = a.start(&e); err != nil {
			return nil, blob, err
		}
	case e.Seq <= a.last, e.Seq != a.last+1 && a.last != 1:
		return nil, blob, fmt.Errorf("event %d follows event %d", e.Seq, a.last)
	case e.Type == journal.RunMoved:
		if err = a.move(&e); err != nil {
			return nil, blob, err
		}
	}
	if err := journal.CheckAppend(a.run, e.Seq-1, []journal.Event{e}, &journal.Head{Run: a.run}); err != nil {
		return nil, blob, err
	}
	a.last, a.blob = e.Seq, ""
	if l.Blob == "" {
		return &e, blob, isSmall(e.Value)
	}
	blob, err = parseHash(l.Blob)
	switch {
	case err != nil:
	case !a.known[blob.Stream()]:
		err = fmt.Errorf("the value of event %d, %s, is not in the file", e.Seq, l.Blob)
	case e.Value != nil:
		err = fmt.Errorf("event %d has a value, and a large one beside it", e.Seq)
	}
	return &e, blob, err
}

// isSmall refuses a large value within an event, which must have a separate line.
func isSmall(v any) error {
	encoded, err := value.Encode(v)
	if err == nil && len(encoded) > blobBytes {
		err = fmt.Errorf("the value has %d bytes; one of more than %d has a line of its own", len(encoded), blobBytes)
	}
	return err
}

// start checks the first event of a run.
func (a *Reader) start(e *journal.Event) error {
	if e.Type != journal.RunStarted || e.Detail == nil || e.Detail.Start == nil || e.Detail.Start.Run != a.run {
		return fmt.Errorf("run %s does not begin with its start", a.run)
	}
	return a.needs(e.Detail.Start)
}

// move checks an event that moves a run to another workflow.
func (a *Reader) move(e *journal.Event) error {
	if e.Detail == nil || e.Detail.Start == nil || e.Detail.Start.Run != a.run {
		return fmt.Errorf("event %d moves another run than %s", e.Seq, a.run)
	}
	return a.needs(e.Detail.Start)
}

// needs compares the workflows before an event with the workflows that it needs.
func (a *Reader) needs(start *journal.Start) error {
	here := a.definitions
	a.definitions = nil
	for _, hash := range definitionsOf(start) {
		if !a.known[journal.DefinitionStream(hash)] {
			return fmt.Errorf("the workflow %s of run %s is not in the file", hash, a.run)
		}
		if len(here) > 0 && here[0] == hash {
			here = here[1:]
		}
	}
	if len(here) > 0 {
		return fmt.Errorf("the workflow %s stands before run %s, which does not need it there", here[0], a.run)
	}
	return nil
}

func (a *Reader) large(name string, encoded []byte) (*Stored, error) {
	hash, err := parseHash(name)
	switch {
	case err != nil:
		return nil, err
	case sha256.Sum256(encoded) != hash:
		return nil, changed("value", hash, sha256.Sum256(encoded))
	case len(encoded) <= blobBytes:
		return nil, fmt.Errorf("a value of %d bytes stands in its event; only one of more than %d has a line of its own", len(encoded), blobBytes)
	}
	v, err := value.Decode(encoded)
	if err != nil {
		return nil, err
	}
	a.blob = name
	return a.stored(hash.Stream(), hash, v)
}

// changed returns the error of content with another hash.
func changed(what string, hash, actual journal.Hash) error {
	return fmt.Errorf("the %s of hash %x has hash %x; it was changed", what, hash, actual)
}

// stored returns content after comparing it with its hash.
func (a *Reader) stored(stream string, hash journal.Hash, v any) (*Stored, error) {
	if a.known[stream] {
		return nil, fmt.Errorf("%s is there twice", stream)
	}
	v, err := value.Of(v)
	if err != nil {
		return nil, err
	}
	if actual, _, err := journal.HashOf(v); err != nil {
		return nil, err
	} else if actual != hash {
		return nil, changed("document", hash, actual)
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
		return fmt.Errorf("the lines of run %s have another hash: they were changed; take the file as it was exported", a.run)
	}
	a.run = ""
	a.left--
	return nil
}

// line reads the next line; text is valid until the next call.
func (a *Reader) line() (l *line, text []byte, err error) {
	a.at.number++
	a.at.offset += int64(a.at.size)
	text, err = a.lines.next()
	a.at.size = len(text)
	if err == nil {
		l, err = decode(text)
	} else if !errors.Is(err, errLine) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, a.fault("%w", err)
	}
	return l, text, nil
}

// StoredAt reads the workflow or large value in the line at an offset of a file. A Reader must have yielded the line. StoredAt
// does not compare hashes again. Its error wraps ErrRefused if the line has changed.
func StoredAt(r io.ReaderAt, offset int64, size int) (any, error) {
	text := make([]byte, size)
	if _, err := r.ReadAt(text, offset); err != nil && err != io.EOF {
		return nil, err
	}
	l, err := decode(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: it changes while it is read: %w", ErrRefused, err)
	case l.Blob != "":
		return value.Decode(l.Data)
	}
	return value.Of(l.Document)
}

// EventAt is StoredAt for an event. Its value is in the file if blob is not zero.
func EventAt(r io.ReaderAt, offset int64, size int) (e journal.Event, blob journal.Hash, err error) {
	text := make([]byte, size)
	if _, err := r.ReadAt(text, offset); err != nil && err != io.EOF {
		return e, blob, err
	}
	l, err := decode(text)
	if err == nil && l.Event == nil {
		err = errors.New("it holds no event")
	}
	if err == nil {
		e, err = l.Event.event()
	}
	if err == nil && l.Event.Blob != "" {
		blob, err = parseHash(l.Event.Blob)
	}
	if err != nil {
		return e, blob, fmt.Errorf("%w: it changes while it is read: %w", ErrRefused, err)
	}
	return e, blob, nil
}

// ContentAt is StoredAt for content of a snapshot.
func ContentAt(r io.ReaderAt, offset int64, size int) ([]byte, error) {
	text := make([]byte, size)
	if _, err := r.ReadAt(text, offset); err != nil && err != io.EOF {
		return nil, err
	}
	l, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("%w: it changes while it is read: %w", ErrRefused, err)
	}
	return l.Data, nil
}

// lines reads lines of bounded length.
type lines struct {
	r    *bufio.Reader
	text []byte
}

// errLine is wrapped by the errors about a line that a Writer cannot have written.
var errLine = errors.New("")

// next returns the next line with its line feed, or io.EOF after the last.
func (s *lines) next() ([]byte, error) {
	s.text = s.text[:0]
	if cap(s.text) > 1<<20 {
		s.text = nil
	}
	for {
		part, err := s.r.ReadSlice('\n')
		if s.text = append(s.text, part...); len(s.text) > LineMax {
			return nil, fmt.Errorf("the line has more than %d bytes%w", LineMax, errLine)
		}
		switch {
		case err == nil:
			return s.text, nil
		case err == io.EOF && len(s.text) > 0:
			return nil, fmt.Errorf("the file has been cut short within the line; export the runs again, or copy the whole file%w", errLine)
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// decode reads one object, and refuses unknown fields: a newer program may have written them.
func decode(text []byte) (*line, error) {
	var l line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(&l); err != nil {
		return nil, notALine(text, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is more after the object")
	}
	return &l, nil
}

// notALine returns the error for a text that is not a line, without the names of Go types.
func notALine(text []byte, err error) error {
	why := strings.TrimPrefix(err.Error(), "json: ")
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		why = fmt.Sprintf("%s holds a JSON %s", cmp.Or(e.Field, "it"), e.Value)
	}
	begin := strings.ToValidUTF8(string(text[:min(len(text), shownBytes)]), "")
	return fmt.Errorf("this is no line of exported runs: %s: %s", why, strings.TrimSuffix(begin, "\n"))
}

// shownBytes bounds the bytes of a line that an error shows.
const shownBytes = 60

// Equal reports whether two events have equal encodings.
func Equal(a, b *journal.Event) (bool, error) {
	var codec journal.Codec
	left, err := codec.Append(nil, a)
	if err != nil {
		return false, err
	}
	right, err := codec.Append(nil, b)
	return slices.Equal(left, right), err
}
