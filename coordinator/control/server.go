package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/internal/usercode"
)

const (
	requestTime  = 10 * time.Second // time in which a request must arrive
	uploadTime   = time.Minute      // time in which its attachment must arrive
	commandTime  = time.Minute      // time in which a command must become durable
	stallTime    = 5 * time.Minute  // time in which a reader must read something
	acceptPause  = 50 * time.Millisecond
	fileTime     = time.Second // between two checks of the socket's file
	requestChunk = 4 << 10
)

// Server answers requests on the socket of a directory until Close, or until its engine shuts down.
type Server struct {
	engine   *coordinator.Engine
	answered func(*api.Request, *outcome, error) // is called with each request that was taken
	dir      string
	room     places // for connections
	waiting  waiting
	commands places
	reads    places
	watches  places
	uploads  places // for requests with an attachment, which takes memory
	ctx      context.Context
	cancel   context.CancelFunc
	all      sync.WaitGroup

	mu     sync.Mutex
	socket *net.UnixListener
	made   os.FileInfo // the socket's file when it was made
}

// Serve answers requests for a directory with an engine that has it open, until Close or the engine's Shutdown, which first
// closes the server. It replaces a socket left by a dead process.
func Serve(dir string, engine *coordinator.Engine) (*Server, error) {
	return serve(dir, engine, func(*api.Request, *outcome, error) {})
}

func serve(dir string, engine *coordinator.Engine, answered func(*api.Request, *outcome, error)) (*Server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{
		engine: engine, answered: answered, dir: dir, room: make(places, connections),
		commands: make(places, CommandsMax), reads: make(places, ReadsMax), uploads: make(places, UploadsMax), watches: make(places, WatchersMax),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.open(); err != nil {
		return nil, err
	}
	s.all.Go(s.keep)
	if err := engine.BeforeShutdown(s.Close); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Server) path() string { return filepath.Join(s.dir, socketName) }

// open makes the socket and serves it. The caller holds mu, or s is not shared yet.
func (s *Server) open() error {
	l, err := listen(s.dir)
	if err != nil {
		return err
	}
	if s.made, err = os.Lstat(s.path()); err != nil {
		return errors.Join(fmt.Errorf("find the control socket: %w", err), l.Close())
	}
	s.socket = l
	s.all.Go(func() { s.accept(l) })
	return nil
}

// keep makes the socket again if its file was removed.
func (s *Server) keep() {
	tick := time.NewTicker(fileTime)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := os.Lstat(s.path()); errors.Is(err, fs.ErrNotExist) {
			s.renew()
		}
	}
}

func (s *Server) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	if old := s.socket; s.open() == nil { // else the next check tries again
		old.Close()
	}
}

// Close accepts no more requests, ends all answers in progress except those to commands, which it waits for, and removes the
// socket. It may be called more than once.
func (s *Server) Close() error {
	s.cancel()
	err := s.remove()
	s.all.Wait()
	return err
}

func (s *Server) remove() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now, missing := os.Lstat(s.path()); missing == nil && os.SameFile(now, s.made) {
		err = os.Remove(s.path())
	}
	if closed := s.socket.Close(); !errors.Is(closed, net.ErrClosed) {
		err = errors.Join(err, closed)
	}
	return err
}

// accept accepts connections as long as there is room for them; further ones wait.
func (s *Server) accept(l *net.UnixListener) {
	for {
		select {
		case <-s.ctx.Done():
			return
		case s.room <- struct{}{}:
		}
		conn, err := l.Accept()
		if err == nil {
			s.waiting.add(conn)
			s.all.Go(func() {
				defer s.room.leave() // also if a method of the program ends the goroutine
				s.serve(conn)
			})
			continue
		}
		s.room.leave()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		select { // such as when descriptors are exhausted, which may pass
		case <-s.ctx.Done():
			return
		case <-time.After(acceptPause):
		}
	}
}

// placesFor returns the places for a verb.
func (s *Server) placesFor(v api.Verb) places {
	switch {
	case v.Command():
		return s.commands
	case v.Follows():
		return s.watches
	}
	return s.reads
}

// serve answers the one request of a connection.
func (s *Server) serve(conn net.Conn) {
	defer conn.Close()
	stop := context.AfterFunc(s.ctx, func() { conn.Close() })
	defer stop()
	req, rest, err := readRequest(conn)
	s.waiting.remove(conn)
	if err == io.EOF { // the client only checked that the server exists
		return
	}
	w := newReplyWriter(conn)
	if err != nil {
		w.fail(api.ErrorOf(err))
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	place := s.placesFor(req.Verb)
	if err := place.enter(ctx); err != nil {
		w.fail(api.ErrorOf(err))
		return
	}
	defer place.leave()
	if req.Attached > 0 {
		if err := s.uploads.enter(ctx); err != nil {
			w.fail(api.ErrorOf(err))
			return
		}
		defer s.uploads.leave()
		if err := readAttachment(conn, rest, req); err != nil {
			w.fail(api.ErrorOf(err))
			return
		}
	}
	if req.Verb.Command() && !stop() || w.take() != nil {
		return
	}
	switch {
	case req.Verb.Command() && !req.Verb.Follows():
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), commandTime)
		defer cancel()
	case req.Verb.Follows(): // otherwise a closed connection goes unnoticed until the next event
		w.prompt = true
		s.all.Go(func() {
			conn.Read(make([]byte, 1))
			cancel()
		})
	}
	err = usercode.Call(func() error { return api.Handle(ctx, s.engine, req, w.reply) })
	if p, panicked := errors.AsType[*usercode.Panic](err); panicked { // the process goes on with its runs
		err = api.ErrorOf(p)
	}
	s.answered(req, &w.outcome, err)
	if e, ok := errors.AsType[*api.Error](err); ok && (req.Verb.Command() || s.ctx.Err() == nil) {
		w.fail(e)
		return
	}
	w.b.Flush()
}

// readRequest reads one line of bounded length. It returns io.EOF if the client sent nothing. The reader yields the bytes behind the
// line, as many as the request announces.
func readRequest(conn net.Conn) (*api.Request, io.Reader, error) {
	limit := &io.LimitedReader{R: &patientReader{conn: conn}, N: api.RequestMax + 1}
	b := bufio.NewReaderSize(limit, requestChunk)
	line, err := b.ReadBytes('\n')
	switch {
	case len(line) > api.RequestMax:
		return nil, nil, api.TooLarge()
	case err == io.EOF && len(line) == 0:
		return nil, nil, io.EOF
	case err != nil && err != io.EOF:
		return nil, nil, fmt.Errorf("%w: %w", api.ErrBadRequest, err)
	}
	req, err := api.DecodeRequest(line)
	if err == nil {
		limit.N = int64(req.Attached)
	}
	return req, b, err
}

// readAttachment reads the bytes that follow the line of a request.
func readAttachment(conn net.Conn, from io.Reader, req *api.Request) error {
	if err := conn.SetReadDeadline(time.Now().Add(uploadTime)); err != nil {
		return err
	}
	var b bytes.Buffer // grows with the bytes that arrive, not with the announced size
	n, err := io.CopyN(&b, from, int64(req.Attached))
	if err != nil {
		return fmt.Errorf("%w: %d of %d attached bytes have arrived: %w", api.ErrBadRequest, n, req.Attached, err)
	}
	req.Attachment = b.Bytes()
	return conn.SetReadDeadline(time.Time{})
}

// replyWriter writes lines of an answer.
type replyWriter struct {
	b       *bufio.Writer
	enc     *json.Encoder
	prompt  bool // every line is sent at once
	outcome outcome
}

func newReplyWriter(conn net.Conn) *replyWriter {
	b := bufio.NewWriter(patientConn{conn})
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return &replyWriter{b: b, enc: enc}
}

// take acknowledges that the request was read. Without it the client knows that nothing was done.
func (w *replyWriter) take() error {
	if err := w.enc.Encode(&api.Reply{Taken: true}); err != nil {
		return err
	}
	return w.b.Flush()
}

func (w *replyWriter) reply(r *api.Reply) error {
	w.outcome.record(r)
	err := w.enc.Encode(r)
	if err == nil && (w.prompt || r.Done != nil) {
		err = w.b.Flush()
	}
	return err
}

// fail ends an answer with an error. An error of sending it is ignored.
func (w *replyWriter) fail(e *api.Error) {
	if w.enc.Encode(&api.Reply{Error: e}) == nil {
		w.b.Flush()
	}
}

// patientConn sets a deadline of stallTime for every write.
type patientConn struct{ net.Conn }

func (c patientConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(stallTime)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
