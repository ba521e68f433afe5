package parking_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/parking"
	"github.com/sluiceflow/sluice/reactive/journal"
)

func TestParkReportsWhetherTheReasonIsNew(t *testing.T) {
	l := parking.New()
	require.Nil(t, l.At("r"))
	require.True(t, l.Park("r", errors.New("a"), nil))
	require.False(t, l.Park("r", errors.New("a"), nil))
	require.True(t, l.Park("r", errors.New("b"), nil))
	require.EqualError(t, l.At("r").Reason, "b")
	l.Remove("r")
	require.Nil(t, l.At("r"))
	require.True(t, l.Park("r", errors.New("b"), nil))
}

func TestWaitersAreNotified(t *testing.T) {
	l := parking.New()
	<-l.Tried("r") // the channel of a run that is not parked is closed
	ctx, leave := l.Notice(t.Context(), "r")
	other, leaveOther := l.Notice(t.Context(), "r")
	leaveOther()
	require.NoError(t, ctx.Err(), "the other waiter still waits")
	l.Park("r", errors.New("a"), nil)
	require.Error(t, ctx.Err())
	require.Error(t, other.Err())
	leave()
	select {
	case <-l.Tried("r"):
		t.Fatal("the run has not been tried")
	default:
	}
	l.Retrying("r")
	l.Retrying("r")
	<-l.Tried("r")
}

func TestMissingReturnsTheRunsWithAStart(t *testing.T) {
	l := parking.New()
	l.Park("a", errors.New("a"), &journal.Start{})
	l.Park("b", errors.New("b"), nil)
	require.Len(t, l.Missing(), 1)
	require.Same(t, l.At("a"), l.Missing()["a"])
}

func TestTheRecordedRunsAreBounded(t *testing.T) {
	l := parking.New()
	for i := range 100_000 {
		l.Park(fmt.Sprint(i), errors.New("a"), nil)
	}
	require.True(t, l.Park("more", errors.New("a"), nil))
	require.Nil(t, l.At("more"))
	require.Nil(t, l.Tried("more"), "the run is not recorded")
	require.False(t, l.Park("1", errors.New("a"), nil))
}
