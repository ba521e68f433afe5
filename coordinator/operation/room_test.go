package operation_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// recordedRoom is a Room that records the requests for room. It grants them, or blocks.
type recordedRoom struct {
	list  []string
	waits string
}

func (*recordedRoom) Redactor() operation.Redactor { return nil }
func (*recordedRoom) Report(operation.Progress) (<-chan error, error) {
	return nil, operation.ErrNoCall
}

func (a *recordedRoom) take(ctx context.Context, what string, bytes int) error {
	a.list = append(a.list, fmt.Sprint(what, " ", bytes))
	if a.waits != what {
		return nil
	}
	ctx.(*operation.Call).End(nil)
	<-ctx.Done()
	return ctx.Err()
}

func (a *recordedRoom) TakeText(ctx context.Context, bytes int) error {
	return a.take(ctx, "text", bytes)
}
func (a *recordedRoom) TakeValue(ctx context.Context, bytes int) error {
	return a.take(ctx, "value", bytes)
}

func TestLargeAnswersWaitForRoom(t *testing.T) {
	list := func(n int) string { return "[" + strings.Repeat("0,", n-2) + "0]" } // of n nodes
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body := map[string]string{"/small": list(4000), "/large": list(10_000), "/unsaid": list(10_000), "/hostile": list(value.NodesMax + 1)}[r.URL.Path]
		if r.URL.Path == "/unsaid" {
			w.(http.Flusher).Flush()
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write([]byte(body))
	})
	value := fmt.Sprint("value ", 10_000*value.NodeBytes)
	for _, tt := range []struct {
		path, waits string
		code        string
		asked       []string
	}{
		{"/small", "", "", nil},
		{"/large", "", "", []string{"text 19999", value}},
		{"/unsaid", "", "", []string{fmt.Sprint("text ", operation.ResponseMax), value}},
		{"/large", "text", operation.CodeCancelled, []string{"text 19999"}},
		{"/large", "value", operation.CodeCancelled, []string{"text 19999", value}},
		{"/hostile", "", operation.CodeTooLarge, []string{"text 4194305"}},
	} {
		t.Run(tt.path+tt.waits, func(t *testing.T) {
			c, room := newCall(nil), &recordedRoom{waits: tt.waits}
			c.HostBy(room)
			_, err := bind(t, template.Binding{HTTP: &template.HTTP{URL: s.URL + tt.path}}).Call(c)
			require.Equal(t, tt.asked, room.list)
			if tt.code == "" {
				require.NoError(t, err)
				return
			}
			e := failure(t, err)
			require.Equal(t, tt.code, e.Code)
			if tt.code == operation.CodeTooLarge {
				require.True(t, e.Permanent)
				require.Contains(t, e.Message, "GET "+s.URL+"/hostile: 2097153 lists, objects, keys and scalars")
			}
		})
	}
}

func TestTheOutputOfCommandsWaitsForRoom(t *testing.T) {
	for output, want := range map[string][]string{
		"lines": {fmt.Sprint("value ", 5002*value.NodeBytes)}, "json": {fmt.Sprint("value ", 5001*value.NodeBytes)}, "text": nil,
	} {
		script := `i=0; while [ $i -lt 5000 ]; do echo 0; i=$((i+1)); done`
		if output == "json" {
			script = `printf '['; i=1; while [ $i -lt 5000 ]; do echo 0,; i=$((i+1)); done; printf '0]'`
		}
		c, room := newCall(nil), &recordedRoom{}
		c.HostBy(room)
		_, err := bind(t, template.Binding{Command: &template.Command{Shell: script, Output: output}}).Call(c)
		require.NoError(t, err)
		require.Equal(t, want, room.list, output)
	}
}
