package cancelled_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/internal/cancelled"
)

func TestErrorHoldsTheErrorAndTheCause(t *testing.T) {
	plain, stop := context.WithCancel(t.Context())
	stop()
	require.Equal(t, context.Canceled, cancelled.Error(plain))

	lunch := errors.New("lunch")
	caused, stopBecause := context.WithCancelCause(t.Context())
	stopBecause(lunch)
	require.ErrorIs(t, cancelled.Error(caused), context.Canceled)
	require.ErrorIs(t, cancelled.Error(caused), lunch)
	require.EqualError(t, cancelled.Error(caused), "context canceled: lunch")

	wrapping, stopWrapping := context.WithCancelCause(t.Context())
	stopWrapping(fmt.Errorf("lunch: %w", context.Canceled))
	require.EqualError(t, cancelled.Error(wrapping), "lunch: context canceled")

	late, stopLate := context.WithDeadlineCause(t.Context(), time.Unix(0, 0), lunch)
	defer stopLate()
	require.ErrorIs(t, cancelled.Error(late), context.DeadlineExceeded)
	require.ErrorIs(t, cancelled.Error(late), lunch)
}
