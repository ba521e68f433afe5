package feed

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/calllog"
)

// KindLog is the kind of frames with the output of calls, a calllog.Batch. Their ids are places of package calllog.
const KindLog = "log"

// LogObserver follows the output of a run's calls, until the run has ended. It belongs to one goroutine.
type LogObserver struct {
	steps  *Observer // only its last frame is passed on
	reader *calllog.Reader
}

// Log observes the output of a run's calls, or only of a step's; "" is all. It begins behind after, a former Frame.ID; "": with the kept
// output. The observer must be closed.
func (h *Hub) Log(ctx context.Context, run, step, after string) (*LogObserver, error) {
	r, err := h.engine.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	if err := r.CheckStep(ctx, step); err != nil {
		return nil, err
	}
	reader, err := h.engine.Logs().Read(run, step, after)
	if errors.Is(err, calllog.ErrPlace) {
		err = fmt.Errorf("%w: %w", ErrAhead, err)
	}
	if err != nil {
		return nil, err
	}
	steps, err := h.Run(ctx, run, Options{})
	if err != nil {
		reader.Close()
		return nil, err
	}
	return &LogObserver{steps, reader}, nil
}

// Next returns the next frame, as soon as there is one. After the run's end it returns io.EOF. If ctx ends, it returns the error of ctx, and
// can be called again.
func (o *LogObserver) Next(ctx context.Context) (Frame, error) {
	for {
		ended := o.steps.changeOrEnd() // before the log is read, so that output from before the end comes first
		b, grown := o.reader.Next()
		if grown == nil {
			data, err := encode(b)
			return Frame{Kind: KindLog, ID: o.reader.Place(), Data: data}, err
		}
		if ended == nil {
			end, err := o.steps.endFrame()
			end.ID = o.reader.Place()
			return end, err
		}
		select {
		case <-grown:
		case <-ended:
		case <-ctx.Done():
			return Frame{}, ctx.Err()
		}
	}
}

// Close ends the observer.
func (o *LogObserver) Close() {
	o.reader.Close()
	o.steps.Close()
}
