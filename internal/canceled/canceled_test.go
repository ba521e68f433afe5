package canceled_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/internal/canceled"
)

func TestErrorHoldsTheErrorAndTheCause(t *testing.T) {
	plain, stop := context.WithCancel(t.Context())
	stop()
	require.Equal(t, context.Canceled, canceled.Error(plain))

	lunch := errors.New("lunch")
	caused, stopBecause := context.WithCancelCause(t.Context())
	stopBecause(lunch)
	require.ErrorIs(t, canceled.Error(caused), context.Canceled)
	require.ErrorIs(t, canceled.Error(caused), lunch)
	require.EqualError(t, canceled.Error(caused), "context canceled: lunch")

	wrapping, stopWrapping := context.WithCancelCause(t.Context())
	stopWrapping(fmt.Errorf("lunch: %w", context.Canceled))
	require.EqualError(t, canceled.Error(wrapping), "lunch: context canceled")

	late, stopLate := context.WithDeadlineCause(t.Context(), time.Unix(0, 0), lunch)
	defer stopLate()
	require.ErrorIs(t, canceled.Error(late), context.DeadlineExceeded)
	require.ErrorIs(t, canceled.Error(late), lunch)
}
