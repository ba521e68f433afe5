// Package jobs runs tasks that outlast a request: backups, and checks for damage. One runs at a time. Jobs are in memory, and end with
// the server.
package jobs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
)

// keptMax bounds the jobs that are remembered.
const keptMax = 100

// Kinds of jobs.
const (
	Backup = "backup"
	Doctor = "doctor"
)

// States of a job.
const (
	Running = "running"
	Done    = "done"   // see the report: there may be faults
	Failed  = "failed" // see the error
)

// ErrBusy is the error about a job while another one runs.
var ErrBusy = errors.New("jobs: another job runs: wait for its end")

// Job is one of them.
type Job struct {
	ID     string          `json:"id"`               // names it
	Kind   string          `json:"kind"`             // backup or doctor
	Name   string          `json:"name,omitempty"`   // of a backup: its folder
	Actor  string          `json:"actor,omitempty"`  // who began it
	State  string          `json:"state"`            // running, done or failed
	Began  time.Time       `json:"began"`            // when
	Ended  time.Time       `json:"ended,omitzero"`   // when
	Report json.RawMessage `json:"report,omitempty"` // of one that is done: counts of records, and the faults found
	Error  string          `json:"error,omitempty"`  // of one that has failed: why

	over chan struct{} // closed when it has ended
}

// BackupBody names a copy.
type BackupBody struct {
	Name string `json:"name"` // of its folder, below that which the server was started with
}

// Jobs runs jobs. It is safe for concurrent use.
type Jobs struct {
	ctx    context.Context
	cancel context.CancelFunc
	all    sync.WaitGroup

	mu   sync.Mutex
	list []*Job // the newest last
}

// New returns no jobs.
func New() *Jobs {
	j := &Jobs{}
	j.ctx, j.cancel = context.WithCancel(context.Background())
	return j
}

// Begin begins a job.
func (j *Jobs) Begin(kind, name, actor string, do func(context.Context) (any, error)) (Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.ctx.Err(); err != nil {
		return Job{}, err
	}
	if n := len(j.list); n > 0 && j.list[n-1].State == Running {
		return Job{}, ErrBusy
	}
	one := &Job{
		ID: strings.ToLower(rand.Text()[:12]), Kind: kind, Name: name, Actor: actor, State: Running, Began: time.Now().UTC(), over: make(chan struct{}),
	}
	if j.list = append(j.list, one); len(j.list) > keptMax {
		j.list = slices.Delete(j.list, 0, 1)
	}
	j.all.Go(func() {
		report, err := do(j.ctx)
		j.end(one, report, err)
	})
	return *one, nil
}

func (j *Jobs) end(one *Job, report any, err error) {
	data, bad := json.Marshal(report)
	err = errors.Join(err, bad)
	j.mu.Lock()
	defer j.mu.Unlock()
	one.State, one.Report, one.Ended = Done, data, time.Now().UTC()
	if err != nil {
		one.State, one.Report, one.Error = Failed, nil, err.Error()
	}
	close(one.over)
}

// Get returns a job of a kind, once it has ended if wait is true.
func (j *Jobs) Get(ctx context.Context, kind, id string, wait bool) (Job, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.IndexFunc(j.list, func(one *Job) bool { return one.ID == id && one.Kind == kind })
	if i < 0 {
		return Job{}, false
	}
	one := j.list[i]
	if wait {
		j.mu.Unlock()
		select {
		case <-one.over:
		case <-ctx.Done():
		}
		j.mu.Lock()
	}
	return *one, true
}

// Close ends the job that runs, and refuses others.
func (j *Jobs) Close() {
	j.mu.Lock()
	j.cancel()
	j.mu.Unlock()
	j.all.Wait()
}
