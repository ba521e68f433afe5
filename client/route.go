package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"time"

	"github.com/sluiceflow/sluice/coordinator/api"
)

// route is the HTTP request for a request of package api.
type route struct {
	method, path string
	query        url.Values
	kind         string // of the content
	content      io.Reader
	accept       string // "": lines of package api
	key          string
	behalf       string // the person for whom the owner of the token acts; "": the owner
}

// object is the body of a request. Keys without a value are left out.
type object map[string]any

// routes has the HTTP request of each verb.
var routes = map[api.Verb]func(*api.Request) *route{
	api.List: func(r *api.Request) *route {
		q := url.Values{}
		set(q, "q", r.Query)
		set(q, "cursor", r.Cursor)
		if len(r.Labels) > 0 {
			set(q, "labels", encoded(r.Labels))
		}
		limited(q, r.Limit)
		return get("/v1/runs", dry(q, r.Dry))
	},
	api.Show: func(r *api.Request) *route {
		q := url.Values{}
		if r.Document {
			set(q, "document", "true")
		}
		if r.Step != "" {
			return get(cell(r), at(q, r))
		}
		return get(run(r), at(q, r))
	},
	api.Cells: func(r *api.Request) *route {
		q := url.Values{}
		set(q, "machine", r.Machine)
		set(q, "status", r.Status)
		set(q, "if", r.If)
		set(q, "index", r.Index)
		set(q, "cell", r.Step)
		limited(q, r.Limit)
		return get(run(r)+"/cells", q)
	},
	api.Await: func(r *api.Request) *route { return get(cell(r), url.Values{"await": {r.If}}) },
	api.Output: func(r *api.Request) *route {
		if r.Step == "" {
			return get(run(r)+"/output", nil)
		}
		q := url.Values{}
		set(q, "participant", r.Participant)
		return get(step(r)+"/output", q)
	},
	api.Events: func(r *api.Request) *route { return get(run(r)+"/events", since(r)) },
	api.Views:  func(r *api.Request) *route { return get(run(r)+"/views", since(r)) },
	api.Watch: func(r *api.Request) *route {
		q := url.Values{}
		if r.From > 1 {
			set(q, "after", number(r.From-1))
		}
		if r.UntilParked {
			set(q, "until", "parked")
		}
		return get(run(r)+"/feed", q)
	},
	api.Log: func(r *api.Request) *route {
		q := url.Values{"view": {"log"}}
		set(q, "step", r.Step)
		return get(run(r)+"/feed", q)
	},
	api.Graph: func(r *api.Request) *route { return get(run(r)+"/graph", at(url.Values{}, r)) },
	api.Explain: func(r *api.Request) *route {
		q := url.Values{}
		set(q, "step", r.Step)
		return get(run(r)+"/explain", at(q, r))
	},
	api.Send: func(r *api.Request) *route {
		out := post(run(r)+"/messages", preview(r), object{"name": r.Message, "payload": raw(r.Payload)})
		out.key = r.ID
		return out
	},
	api.Decide: func(r *api.Request) *route {
		return post(step(r)+"/decide", preview(r), object{"decision": r.Decision, "reason": r.Reason, "payload": raw(r.Payload)})
	},
	api.Pause: func(r *api.Request) *route {
		return post(cellOrRun(r)+"/pause", preview(r), object{"reason": r.Reason})
	},
	api.Resume: func(r *api.Request) *route { return post(cellOrRun(r)+"/resume", preview(r), object{}) },
	api.Cancel: func(r *api.Request) *route { return post(run(r)+"/cancel", preview(r), object{"reason": r.Reason}) },
	api.Abort:  func(r *api.Request) *route { return post(step(r)+"/abort", preview(r), object{"reason": r.Reason}) },
	api.Retry: func(r *api.Request) *route {
		return post(step(r)+"/retry", preview(r), object{"work": r.Work, "new_key": r.NewKey})
	},
	api.Patch: func(r *api.Request) *route {
		return post(run(r)+"/patch", preview(r), object{"changes": raw(r.Payload), "reason": r.Reason})
	},
	api.Delete: func(r *api.Request) *route { return &route{method: http.MethodDelete, path: run(r), query: preview(r)} },
	api.Keep:   func(r *api.Request) *route { return post(run(r)+"/snapshot", preview(r), object{}) },
	api.Sweep: func(r *api.Request) *route {
		return post(run(r)+"/sweep", preview(r), object{"events": r.Events})
	},
	api.Names: func(r *api.Request) *route {
		q := url.Values{}
		set(q, "begins", r.Name)
		limited(q, r.Limit)
		return get("/v1/workflows", q)
	},
	api.Export: func(r *api.Request) *route {
		q := url.Values{}
		set(q, "q", r.Query)
		if len(r.Runs) > 0 {
			set(q, "runs", encoded(r.Runs))
		}
		return get("/v1/export", q)
	},
	api.Retain: func(r *api.Request) *route {
		return post("/v1/keep", preview(r), object{"q": r.Query, "keep": r.Keep, "every": r.Every})
	},
	api.Rules:   func(*api.Request) *route { return get("/v1/keep", nil) },
	api.Collect: func(r *api.Request) *route { return post("/v1/gc", preview(r), object{"keep": r.Keep}) },
	api.Acts: func(r *api.Request) *route {
		if r.Number == 0 {
			return get("/v1/bulk", nil)
		}
		return get("/v1/bulk/"+number(r.Number), nil)
	},
	api.AwaitAct: func(r *api.Request) *route { return get("/v1/bulk/"+number(r.Number), url.Values{"wait": {"true"}}) },
	api.StopAct: func(r *api.Request) *route {
		return &route{method: http.MethodDelete, path: "/v1/bulk/" + number(r.Number), query: preview(r)}
	},
}

// bringing has the HTTP requests of the verbs that send documents.
var bringing = map[api.Verb]func(*api.Request, *api.Attachment) *route{
	api.Begin: func(r *api.Request, a *api.Attachment) *route {
		return post("/v1/runs", nil, object{"workflow": r.Name, "id": r.ID, "input": raw(a.Input), "labels": r.Labels, "show": r.Document, "parcel": a.Parcel})
	},
	api.Publish: func(_ *api.Request, a *api.Attachment) *route {
		return post("/v1/workflows", nil, object{"parcel": a.Parcel})
	},
	api.Repeat: func(r *api.Request, a *api.Attachment) *route {
		what := r.Rerun
		return post(run(r)+"/rerun", preview(r), object{"from": what.From, "only": what.Only, "failed": what.Failed, "changed": what.Changed,
			"at": what.At, "set": what.Set, "id": r.ID, "labels": r.Labels, "input": raw(a.Input), "parcel": a.Parcel})
	},
	api.Shadow: func(r *api.Request, a *api.Attachment) *route {
		path := "/v1/shadow"
		if r.Run != "" {
			path = run(r) + "/shadow"
		}
		return post(path, nil, object{"workflow": r.Name, "q": r.Query, "parcel": a.Parcel})
	},
	api.Move: func(r *api.Request, a *api.Attachment) *route {
		return post(run(r)+"/move", preview(r), object{"workflow": r.Name, "parcel": a.Parcel})
	},
	api.Bulk: func(r *api.Request, a *api.Attachment) *route {
		var what any
		if w := r.Rerun; w != nil {
			what = sparse(object{"from": w.From, "only": w.Only, "failed": w.Failed, "changed": w.Changed, "at": w.At, "set": w.Set, "input": raw(a.Input)})
		}
		return post("/v1/bulk", preview(r), object{"act": r.Act, "q": r.Query, "expect": r.Expect, "reason": r.Reason,
			"rerun": what, "workflow": r.Name, "parcel": a.Parcel})
	},
	api.Compare: func(r *api.Request, a *api.Attachment) *route {
		if a.Parcel == nil && a.Old == nil {
			return get("/v1/diff", url.Values{"from": {r.Old}, "to": {r.Name}})
		}
		return post("/v1/diff", nil, object{"from": r.Old, "to": r.Name, "old": a.Old, "parcel": a.Parcel})
	},
}

// routeOf returns the HTTP request for a request.
func routeOf(r *api.Request) (*route, error) {
	if how := routes[r.Verb]; how != nil {
		return how(r), nil
	}
	if how := bringing[r.Verb]; how != nil {
		var a api.Attachment
		if len(r.Attachment) > 0 {
			if err := json.Unmarshal(r.Attachment, &a); err != nil {
				return nil, fmt.Errorf("%w: attachment: %w", api.ErrBadRequest, err)
			}
		}
		return how(r, &a), nil
	}
	if r.Verb == api.Import {
		file, err := os.Open(r.File)
		return &route{method: http.MethodPost, path: "/v1/import", kind: "application/x-ndjson", content: file}, err
	}
	return nil, fmt.Errorf("%w: %q is not available from a server: run it on its machine, with --data", api.ErrBadRequest, r.Verb)
}

func get(path string, q url.Values) *route {
	return &route{method: http.MethodGet, path: path, query: q}
}

func post(path string, q url.Values, body object) *route {
	return &route{method: http.MethodPost, path: path, query: q, kind: "application/json", content: bytes.NewReader([]byte(encoded(sparse(body))))}
}

// sparse drops the members of an object that are nil or zero.
func sparse(body object) object {
	for key, v := range body {
		if value := reflect.ValueOf(v); !value.IsValid() || value.IsZero() {
			delete(body, key)
		}
	}
	return body
}

// raw returns JSON that is sent unchanged; nil if it is empty.
func raw(text json.RawMessage) any {
	if len(text) == 0 {
		return nil
	}
	return text
}

// encoded returns the JSON of a value that can always be encoded.
func encoded(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // texts, numbers and JSON
	return string(bytes.TrimSpace(b.Bytes()))
}

func run(r *api.Request) string  { return "/v1/runs/" + url.PathEscape(r.Run) }
func step(r *api.Request) string { return run(r) + "/steps/" + url.PathEscape(r.Step) }
func cell(r *api.Request) string { return run(r) + "/cells/" + url.PathEscape(r.Step) }

// cellOrRun returns the path of the run, or of the cell that the request names.
func cellOrRun(r *api.Request) string {
	if r.Step == "" {
		return run(r)
	}
	return cell(r)
}

func set(q url.Values, name, text string) {
	if text != "" {
		q.Set(name, text)
	}
}

func limited(q url.Values, n int) {
	if n > 0 {
		q.Set("limit", strconv.Itoa(n))
	}
}

func dry(q url.Values, yes bool) url.Values {
	if yes {
		q.Set("dry", "true")
	}
	return q
}

// preview returns the query of a request that may be a preview.
func preview(r *api.Request) url.Values { return dry(url.Values{}, r.Dry) }

func at(q url.Values, r *api.Request) url.Values {
	switch {
	case r.At == nil:
	case r.At.Seq > 0:
		q.Set("at", number(r.At.Seq))
	default:
		q.Set("at", r.At.Time.Format(time.RFC3339Nano))
	}
	return q
}

func since(r *api.Request) url.Values {
	q := url.Values{}
	set(q, "step", r.Step)
	if r.From > 1 {
		q.Set("cursor", number(r.From))
	}
	return q
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }
