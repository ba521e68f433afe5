package large_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi/large"
)

const mebibyte = 1 << 20

func sized(bytes int) func() ([]byte, error) {
	return func() ([]byte, error) { return make([]byte, bytes), nil }
}

func TestValuesWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := large.New(4*mebibyte, 2)
		_, first, err := v.Load(t.Context(), sized(3*mebibyte))
		require.NoError(t, err)
		_, small, err := v.Load(t.Context(), sized(100))
		require.NoError(t, err)
		small()

		began := time.Now()
		_, _, err = v.Load(t.Context(), sized(2*mebibyte))
		require.ErrorIs(t, err, large.ErrBusy)
		require.Equal(t, 10*time.Second, time.Since(began))

		go func() { <-time.After(time.Second); first() }()
		began = time.Now()
		_, second, err := v.Load(t.Context(), sized(2*mebibyte))
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(began))
		second()
		_, whole, err := v.Load(t.Context(), sized(9*mebibyte))
		require.NoError(t, err, "a value that is larger than the bound is sent alone")
		whole()
	})
}

// Large values that wait for room are not held meanwhile, and hold no other up.
func TestSmallValuesDoNotWaitBehindLargeOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := large.New(4*mebibyte, 2)
		_, first, err := v.Load(t.Context(), sized(4*mebibyte))
		require.NoError(t, err)
		var loads atomic.Int64
		for range 20 {
			go func() {
				_, release, err := v.Load(t.Context(), func() ([]byte, error) { loads.Add(1); return sized(4 * mebibyte)() })
				if err == nil {
					<-time.After(time.Second)
					release()
				}
			}()
		}
		synctest.Wait()
		began := time.Now()
		_, small, err := v.Load(t.Context(), sized(100))
		require.NoError(t, err)
		require.Equal(t, began, time.Now())
		small()
		require.EqualValues(t, 20, loads.Load())
		first()
		synctest.Wait()
		require.EqualValues(t, 21, loads.Load(), "one has room, and is loaded again")
		<-time.After(time.Minute)
	})
}

func TestFewValuesAreLoadedAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := large.New(4*mebibyte, 2)
		var loads, most atomic.Int64
		for range 10 {
			go func() {
				_, release, err := v.Load(t.Context(), func() ([]byte, error) {
					most.Store(max(most.Load(), loads.Add(1)))
					<-time.After(time.Second)
					loads.Add(-1)
					return nil, nil
				})
				require.NoError(t, err)
				release()
			}()
		}
		<-time.After(time.Minute)
		require.EqualValues(t, 2, most.Load())
	})
}

func TestWhatIsNotLoadedTakesNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := large.New(mebibyte, 1)
		no := errors.New("no")
		for range 3 {
			_, _, err := v.Load(t.Context(), func() ([]byte, error) { return nil, no })
			require.ErrorIs(t, err, no)
		}
		_, release, err := v.Load(t.Context(), sized(mebibyte))
		require.NoError(t, err)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err = v.Load(gone, sized(mebibyte))
		require.ErrorIs(t, err, context.Canceled)
		release()
		_, release, err = v.Load(t.Context(), sized(mebibyte))
		require.NoError(t, err)
		release()
	})
}

// A client that takes nothing is not waited for.
func TestAClientThatTakesNothingGetsNoMore(t *testing.T) {
	served := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		large.Serve(w, req, make([]byte, 64*mebibyte), 100*time.Millisecond)
		close(served)
	}))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	require.NoError(t, err)
	<-served
}
