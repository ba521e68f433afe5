package calllog

import (
	"context"

	"github.com/sluiceflow/sluice/internal/cancelled"
)

// Follow passes on the output of a run, or only of a step, until take returns false, or until wait returns, because the run has ended,
// and all output was passed on. It returns the error of wait.
func (l *Logs) Follow(ctx context.Context, run, step string, wait func(context.Context) error, take func(Batch) bool) error {
	reader, err := l.Read(run, step, "")
	if err != nil {
		return err
	}
	defer reader.Close()
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- wait(waiting) }() // ends with the reading
	for isOver := false; ; {
		b, grown := reader.Next()
		switch {
		case grown == nil:
			if !take(b) {
				return nil
			}
			continue
		case isOver:
			return err
		}
		select {
		case <-grown:
		case err = <-ended:
			isOver = true
		case <-ctx.Done():
			return cancelled.Error(ctx)
		}
	}
}
