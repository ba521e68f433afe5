package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi/jobs"
)

func TestOneJobRunsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := jobs.New()
		defer all.Close()
		let := make(chan error)
		do := func(context.Context) (any, error) { return map[string]int{"faults": 2}, <-let }
		first, err := all.Begin(jobs.Backup, "monday", "ann", do)
		require.NoError(t, err)
		require.Equal(t, jobs.Running, first.State)
		_, err = all.Begin(jobs.Doctor, "", "ann", do)
		require.ErrorIs(t, err, jobs.ErrBusy)
		_, ok := all.Get(t.Context(), jobs.Doctor, first.ID, false)
		require.False(t, ok, "it is of another kind")

		waited := make(chan jobs.Job)
		go func() {
			one, _ := all.Get(t.Context(), jobs.Backup, first.ID, true)
			waited <- one
		}()
		synctest.Wait()
		let <- nil
		one := <-waited
		require.Equal(t, jobs.Done, one.State)
		require.JSONEq(t, `{"faults": 2}`, string(one.Report))

		second, err := all.Begin(jobs.Doctor, "", "ann", do)
		require.NoError(t, err)
		let <- errors.New("the disk is full")
		one, ok = all.Get(t.Context(), jobs.Doctor, second.ID, true)
		require.True(t, ok)
		require.Equal(t, jobs.Failed, one.State)
		require.Equal(t, "the disk is full", one.Error)
		require.Empty(t, one.Report)
	})
}

// Close cancels a running job and waits for it.
func TestJobsEndWithTheServer(t *testing.T) {
	all := jobs.New()
	begun := make(chan struct{})
	one, err := all.Begin(jobs.Doctor, "", "", func(ctx context.Context) (any, error) {
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	require.NoError(t, err)
	<-begun
	all.Close()
	got, ok := all.Get(t.Context(), jobs.Doctor, one.ID, true)
	require.True(t, ok)
	require.Equal(t, jobs.Failed, got.State)
	_, err = all.Begin(jobs.Doctor, "", "", nil)
	require.ErrorIs(t, err, context.Canceled)
}

func TestOldJobsAreForgotten(t *testing.T) {
	all := jobs.New()
	defer all.Close()
	var ids []string
	for i := range 101 {
		one, err := all.Begin(jobs.Backup, fmt.Sprint(i), "", func(context.Context) (any, error) { return nil, nil })
		require.NoError(t, err)
		_, _ = all.Get(t.Context(), jobs.Backup, one.ID, true)
		ids = append(ids, one.ID)
	}
	_, ok := all.Get(t.Context(), jobs.Backup, ids[0], false)
	require.False(t, ok)
	_, ok = all.Get(t.Context(), jobs.Backup, ids[1], false)
	require.True(t, ok)
}
