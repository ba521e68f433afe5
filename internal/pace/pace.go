// Package pace slows work that runs beside more important work.
package pace

import (
	"context"
	"time"
)

const (
	sliceLeast  = 5 * time.Millisecond // no rest after a shorter slice, because a pause costs a wake-up
	restLongest = time.Second
)

// Pace limits the share of time that work takes. The zero Pace never rests.
type Pace struct {
	rests int
	began time.Time // of the slice
}

// Resting returns the pace of work that begins now and rests the given multiple of the time that it works.
func Resting(times int) Pace { return Pace{rests: times, began: time.Now()} }

// Rest pauses after a slice of work of at least 5 ms, for at most 1 s. It returns the error of a context that has ended.
func (p *Pace) Rest(ctx context.Context) error {
	if err := ctx.Err(); err != nil || p.rests == 0 {
		return err
	}
	slice := time.Since(p.began)
	if slice < sliceLeast {
		return nil
	}
	pause := time.NewTimer(min(time.Duration(p.rests)*slice, restLongest))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	p.began = time.Now()
	return nil
}
