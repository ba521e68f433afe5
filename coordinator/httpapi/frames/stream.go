package frames

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/sluiceflow/sluice/coordinator/feed"
)

// Heartbeat is the time between two signs of life.
const Heartbeat = 15 * time.Second

// Observer is one of package feed.
type Observer interface {
	// Next returns the next frame, as soon as there is one, and io.EOF at the end. If ctx ends, it can be called again.
	Next(ctx context.Context) (feed.Frame, error)

	// Close ends the observer.
	Close()
}

// Stream is a feed that is sent to a client.
type Stream struct {
	Observer Observer                        // whose frames are sent; it is closed at the end
	Leave    func()                          // is called at the end
	Problem  func(run string, err error) any // returns an error as the client gets it, about one of several runs or about the feed
	Sent     func(since time.Time)           // is called with the time at which the server read the changes that it has sent
	Writer   *Writer                         // that has begun

	// Stands calls end when the client loses its access; check returns the reason, and is called before each frame.
	Stands func(end func()) (check func() error, leave func())

	check  func() error
	server context.Context
}

// Send sends frames until the client goes, the feed ends, or one of the contexts does. Thousands of streams wait in it, so its
// callers should have little on their stacks.
func (s *Stream) Send(ctx, server context.Context) {
	defer s.Leave()
	defer s.Observer.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(server, cancel)()
	check, leave := s.Stands(cancel)
	defer leave()
	s.check, s.server = check, server
	for err := error(nil); err == nil && ctx.Err() == nil; {
		if err = s.span(ctx); err == nil {
			err = s.beat(ctx)
		}
	}
}

// beat shows that the stream is alive, if the client may still see it.
func (s *Stream) beat(ctx context.Context) error {
	if err := s.check(); err != nil {
		return s.fail(err)
	}
	if ctx.Err() != nil {
		return nil
	}
	return s.Writer.Beat()
}

// span sends frames until the next heartbeat. It returns an error if that is the end of the stream.
func (s *Stream) span(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Heartbeat)
	defer cancel()
	for ctx.Err() == nil {
		f, err := s.Observer.Next(ctx)
		if err == nil {
			err = s.frame(&f)
		} else if ctx.Err() != nil {
			err = nil
		} else if s.server.Err() != nil {
			err = io.EOF // after its last frame, where the client resumes later
		} else if !errors.Is(err, io.EOF) {
			err = s.fail(err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// frame sends a frame.
func (s *Stream) frame(f *feed.Frame) error {
	if err := s.check(); err != nil {
		return s.fail(err)
	}
	if f.Err != nil {
		return s.Writer.FrameWith(*f, s.Problem(f.Run, f.Err))
	}
	err := s.Writer.Frame(f)
	if err == nil && !f.Since.IsZero() {
		s.Sent(f.Since)
	}
	return err
}

// fail sends the reason why the feed ends to the client. It never returns nil.
func (s *Stream) fail(why error) error {
	return errors.Join(s.Writer.Failure(s.Problem("", why)), io.EOF)
}
