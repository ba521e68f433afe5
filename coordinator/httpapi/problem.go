package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/catalog"
	"github.com/sluiceflow/sluice/coordinator/feed"
	"github.com/sluiceflow/sluice/coordinator/httpapi/large"
	"github.com/sluiceflow/sluice/coordinator/httpapi/names"
	"github.com/sluiceflow/sluice/template/document"
)

// Codes of errors besides those of package api. docs/errors.md explains all.
const (
	CodeBadRequest   = "bad_request"
	CodeUnauthorized = "unauthorized"
	CodeForbidden    = "forbidden"
	CodeCrossOrigin  = "cross_origin"
	CodeHost         = "wrong_host"
	CodeNoRoute      = "no_route"
	CodeMethod       = "method_not_allowed"
	CodeMediaType    = "media_type"
	CodeBodyTooLarge = "body_too_large"
	CodeChanged      = "changed"
	CodeStreams      = "too_many_streams"
	CodePanic        = "internal"
	CodeKeyUsed      = "key_used"
	CodeBadDocument  = "bad_document"
	CodeNotAllowed   = "not_allowed"
	CodeNoValue      = "no_value"
	CodeRate         = "too_many_requests"
	CodeNoJob        = "job_not_found"
	CodeRange        = "bad_range"
)

// Problem is an error as clients receive it: RFC 9457. It holds no values of the request.
type Problem struct {
	Type       string         `json:"type"`                 // /problems/CODE
	Title      string         `json:"title"`                // of the status
	Status     int            `json:"status"`               // of HTTP
	Detail     string         `json:"detail"`               // for people
	Instance   string         `json:"instance,omitempty"`   // path of the request
	Code       string         `json:"code"`                 // for programs: see docs/errors.md
	Suggestion string         `json:"suggestion,omitempty"` // a run or step that was probably meant
	Errors     []ProblemPlace `json:"errors,omitempty"`     // where it is
	RequestID  string         `json:"request_id,omitempty"` // as the server's log has it
}

// ProblemPlace is a place of the request at which something is wrong.
type ProblemPlace struct {
	Pointer    string `json:"pointer"`              // a JSON pointer into the body, or query/NAME, or header/NAME; of a document its path, such as steps[1].operation
	Detail     string `json:"detail"`               // for people
	Line       int    `json:"line,omitempty"`       // of a document, from 1
	Column     int    `json:"column,omitempty"`     // of a document, from 1
	Suggestion string `json:"suggestion,omitempty"` // a name that was probably meant
}

func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// problem returns the error with a code.
func problem(code, format string, args ...any) *Problem {
	status := names.Status(code)
	return &Problem{
		Type: "/problems/" + code, Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...), Code: code,
	}
}

// at returns the problem with its place in the request.
func (p *Problem) at(pointer string) *Problem {
	p.Errors = append(p.Errors, ProblemPlace{Pointer: pointer, Detail: p.Detail})
	return p
}

// problemOf returns the problem of any error.
func problemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if errors.Is(err, large.ErrBusy) {
		return problem(CodeRate, "%v", large.ErrBusy)
	}
	if errors.Is(err, feed.ErrAhead) || errors.Is(err, feed.ErrNotShown) {
		return problem(CodeBadRequest, "%v", err)
	}
	if refused := documentProblem(err); refused != nil {
		return refused
	}
	e := api.ErrorOf(err)
	p := problem(e.Code, "%s", e.Message)
	p.Suggestion = e.Suggestion
	return p
}

// documentProblem returns the problem of a document's faults; nil if the error has none.
func documentProblem(err error) *Problem {
	var faults document.Errors
	if one, ok := errors.AsType[*document.Error](err); ok {
		faults = document.Errors{one}
	}
	if all, ok := errors.AsType[document.Errors](err); ok {
		faults = all
	}
	var p *Problem
	switch {
	case errors.Is(err, catalog.ErrNotAllowed):
		text := strings.TrimPrefix(err.Error(), "catalog: ")
		if len(faults) > 0 {
			text = strings.TrimPrefix(faults[0].Msg, "catalog: ")
		}
		p = problem(CodeNotAllowed, "%s", text)
	case len(faults) > 0:
		p = problem(CodeBadDocument, "%s", faults[0].Msg)
	default:
		return nil
	}
	for _, f := range faults[:min(len(faults), faultsMax)] {
		p.Errors = append(p.Errors, ProblemPlace{f.Path, strings.TrimPrefix(f.Msg, "catalog: "), f.Line, f.Col, f.Suggestion})
	}
	return p
}

// faultsMax bounds the faults of a document that an answer names.
const faultsMax = 100

// fail answers with an error. If the client has gone, none is sent.
func (s *Server) fail(w http.ResponseWriter, req *http.Request, err error) {
	if req.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return
	}
	p := *problemOf(err)
	p.Instance, p.RequestID = req.URL.EscapedPath(), w.Header().Get(requestHeader)
	s.measures.Refused(p.Code)
	if p.Status == http.StatusInternalServerError {
		s.log.Error("a request has failed", "request", p.RequestID, "method", req.Method, "path", req.URL.Path, "error", err)
	}
	if p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(&p) // the client may have gone
}
