package parking_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/parking"
	"github.com/sluiceflow/sluice/reactive/journal"
)

func TestAReasonIsNewsOnce(t *testing.T) {
	l := parking.New()
	require.Nil(t, l.At("r"))
	require.True(t, l.Park("r", errors.New("a"), nil))
	require.False(t, l.Park("r", errors.New("a"), nil))
	require.True(t, l.Park("r", errors.New("b"), nil))
	require.EqualError(t, l.At("r").Reason, "b")
	l.Leave("r")
	require.Nil(t, l.At("r"))
	require.True(t, l.Park("r", errors.New("b"), nil))
}

func TestWaitersAreNotified(t *testing.T) {
	l := parking.New()
	<-l.Tried("r") // it is not parked: it may be looked at at once
	ctx, leave := l.Notice(t.Context(), "r")
	other, leaveOther := l.Notice(t.Context(), "r")
	leaveOther()
	require.NoError(t, ctx.Err(), "somebody waits still")
	l.Park("r", errors.New("a"), nil)
	require.Error(t, ctx.Err())
	require.Error(t, other.Err())
	leave()
	select {
	case <-l.Tried("r"):
		t.Fatal("it has not been tried")
	default:
	}
	l.Try("r")
	l.Try("r")
	<-l.Tried("r")
}

func TestOnlyThoseThatLackSomethingAreMissingIt(t *testing.T) {
	l := parking.New()
	l.Park("a", errors.New("a"), &journal.Start{})
	l.Park("b", errors.New("b"), nil)
	require.Len(t, l.Missing(), 1)
	require.Same(t, l.At("a"), l.Missing()["a"])
}

func TestALotIsBounded(t *testing.T) {
	l := parking.New()
	for i := range 100_000 {
		l.Park(fmt.Sprint(i), errors.New("a"), nil)
	}
	require.True(t, l.Park("more", errors.New("a"), nil))
	require.Nil(t, l.At("more"))
	require.Nil(t, l.Tried("more"), "that will not be known")
	require.False(t, l.Park("1", errors.New("a"), nil))
}
