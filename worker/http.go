package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator/workers/wire"
)

// answerMax bounds an answer of the server, in bytes.
const answerMax = 512 << 20

// refusal is an error answer.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// isFinal reports whether a request was refused, and would be refused again.
func isFinal(err error) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && r.status >= 400 && r.status < 500 && r.status != http.StatusTooManyRequests && r.status != http.StatusRequestTimeout
}

// post makes a request with a body, and reads its answer.
func (w *worker) post(ctx context.Context, path string, body, answer any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		return err
	}
	data, err := w.do(ctx, http.MethodPost, path, &text)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, answer)
}

// get reads the resource at a path of the server.
func (w *worker) get(ctx context.Context, path string) ([]byte, error) {
	return w.do(ctx, http.MethodGet, path, http.NoBody)
}

func (w *worker) do(ctx context.Context, method, path string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(w.URL, "/")+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+w.Token)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := w.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, answerMax))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return data, nil
	}
	var problem struct{ Code, Detail string }
	if json.Unmarshal(data, &problem) != nil || problem.Code == "" {
		problem.Code, problem.Detail = resp.Status, "it is not an answer of a Sluice server"
	}
	return nil, &refusal{resp.StatusCode, fmt.Sprintf("%s: %s", problem.Code, problem.Detail)}
}

// retryAfter returns the seconds until an instant in nanoseconds; 0 if that is not set.
func retryAfter(at int64) float64 {
	if at == 0 {
		return 0
	}
	return max(min(time.Until(time.Unix(0, at)), wire.RetryAfterTime).Seconds(), 0.001)
}
