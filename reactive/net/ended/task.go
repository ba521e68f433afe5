package ended

import (
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// Task is the end of a task.
type Task struct {
	Task     *playbook.Task   // the task that called
	Result   value.Value      // a value of package value; nil after a failure
	Failure  *journal.Failure // nil: it succeeded
	About    map[string]any   // metadata of the answer, by key, such as http
	Attempt  int              // of the task, from 1
	At       int64            // instant of the end, Unix nanoseconds
	Duration time.Duration    // of the attempt, at least 0
}

// Answer returns the output of a call for expressions. A large value that no expression can read may have been left in place, see
// template.CallSite.
func Answer(output any) value.Value {
	if large, ok := output.(value.Large); ok {
		return large
	}
	v, _ := value.Of(output)
	return v
}

// Unwrap splits an HTTP answer: its body becomes the result, and rules read the rest as `outcome.http`.
func (o *Task) Unwrap() {
	if _, ok := o.About["http"]; ok {
		return
	}
	answer, _ := o.Result.(map[string]any)
	if o.Failure != nil {
		details, _ := value.Of(o.Failure.Details)
		answer, _ = details.(map[string]any)
	}
	if _, ok := answer["headers"]; !ok || answer["status"] == nil {
		return
	}
	o.About = map[string]any{"http": map[string]any{"status": answer["status"], "headers": answer["headers"]}}
	if o.Failure == nil {
		o.Result = answer["body"]
	}
}

// Describe returns an outcome for rules.
func (o *Task) Describe() value.Value {
	status := "ok"
	if o.Failure != nil {
		status = "error"
	}
	out := map[string]any{
		"status": status, "result": o.Result, "data": o.Result, "error": Error(o.Failure), "loop": nil,
		"meta": map[string]any{
			"attempt": int64(o.Attempt), "duration_ms": o.Duration.Milliseconds(),
			"ts": time.Unix(0, o.At).UTC().Format(time.RFC3339Nano),
		},
	}
	switch o.Task.Kind {
	case "http":
		out["http"] = map[string]any{"status": nil}
	case "postgres":
		out["pg"] = map[string]any{"code": nil}
	case "python":
		out["py"] = map[string]any{}
	}
	for k, v := range o.About {
		out[k] = v
	}
	if o.Failure != nil {
		details, _ := value.Of(o.Failure.Details)
		object, _ := details.(map[string]any)
		for _, k := range []string{"http", "pg", "py"} {
			if v, ok := object[k]; ok {
				out[k] = v
			}
		}
	}
	return out
}
