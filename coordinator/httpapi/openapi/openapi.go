// Package openapi describes the routes of a server as OpenAPI 3.1.
package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/httpapi/shapes"
)

// Route is a method of a path, as it is described.
type Route struct {
	Method  string  // of HTTP
	Path    string  // as http.ServeMux has it
	Role    string  // the least that may use it
	Open    bool    // no token is needed
	Summary string  // what it does
	Query   []Param // its parameters
	Many    string  // the parameters that may come several times, with spaces between
	Headers []Param // those that mean something here
	Body    any     // a value of the type of the body; nil: none
	Status  int     // of success; 0: 200
	Answer  any     // a value of the type of the answer; nil: no JSON, or any
	Preview any     // the same, of the answer with dry=true, whose status is 200; nil: it is as without
}

// Param is a parameter of a query, or a header.
type Param struct{ Name, Summary string }

// Document returns the description of routes. Their errors are values of the type of problem.
func Document(routes []Route, problem any) ([]byte, error) {
	s, failure := shapes.New(), reflect.TypeOf(problem)
	paths := map[string]map[string]any{}
	for i := range routes {
		r := &routes[i]
		if paths[r.Path] == nil {
			paths[r.Path] = map[string]any{}
		}
		paths[r.Path][strings.ToLower(r.Method)] = described(s, r, failure)
	}
	s.Of(failure)
	data, err := json.MarshalIndent(map[string]any{
		"openapi": "3.1.0",
		"info":    map[string]any{"title": "Sluice", "version": "1"},
		"paths":   paths,
		"components": map[string]any{
			"schemas":         s.Described(),
			"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}},
		},
	}, "", " ")
	if err != nil {
		return nil, fmt.Errorf("describe the routes: %w", err)
	}
	return append(data, '\n'), nil
}

// pathNames explain the parameters of paths.
var pathNames = map[string]string{
	"run": "id of the run", "key": "key of the step", "cell": "address of the cell", "seq": "number of the event", "name": "name of the workflow",
	"hash": "hash of the version", "id": "id of the decision, the act or the job",
}

var inPath = regexp.MustCompile(`\{(\w+)\}`)

// described describes a route.
func described(s *shapes.Set, r *Route, problem reflect.Type) map[string]any {
	var params []any
	for _, m := range inPath.FindAllStringSubmatch(r.Path, -1) {
		params = append(params, param(m[1], "path", pathNames[m[1]]))
	}
	for _, p := range r.Query {
		query := param(p.Name, "query", p.Summary)
		if slices.Contains(strings.Fields(r.Many), p.Name) {
			query["schema"] = map[string]any{"type": "array", "items": query["schema"]}
		}
		params = append(params, query)
	}
	for _, p := range r.Headers {
		if p.Name != "Accept" { // OpenAPI describes it by the kinds of answers
			params = append(params, param(p.Name, "header", p.Summary))
		}
	}
	op := map[string]any{
		"summary": r.Summary, "operationId": r.operationID(), "x-role": r.Role,
		"responses": responses(s, r, problem),
	}
	if len(params) > 0 {
		op["parameters"] = params
	}
	if r.Body != nil {
		op["requestBody"] = map[string]any{"content": map[string]any{
			"application/json": map[string]any{"schema": s.Of(reflect.TypeOf(r.Body))},
		}}
	}
	if !r.Open {
		op["security"] = []any{map[string]any{"token": []string{}}}
	}
	return op
}

// responses describes the answers of a route, by status.
func responses(s *shapes.Set, r *Route, problem reflect.Type) map[string]any {
	all := map[string]any{
		fmt.Sprint(max(r.Status, http.StatusOK)): map[string]any{"description": "The request succeeded.", "content": answer(s, r)},
		"default": map[string]any{"description": "The request was refused, or failed.", "content": map[string]any{
			"application/problem+json": map[string]any{"schema": s.Of(problem)},
		}},
	}
	if r.Preview != nil {
		all["200"] = map[string]any{"description": "With dry=true: the preview.", "content": map[string]any{
			"application/json": map[string]any{"schema": s.Of(reflect.TypeOf(r.Preview))},
		}}
	}
	if slices.ContainsFunc(r.Headers, func(p Param) bool { return p.Name == "Range" }) {
		all["206"] = map[string]any{"description": "The bytes that Range names.", "content": map[string]any{"application/json": map[string]any{}}}
	}
	return all
}

// answer describes the answer of a route.
func answer(s *shapes.Set, r *Route) map[string]any {
	if strings.HasSuffix(r.Path, "/feed") {
		return map[string]any{"text/event-stream": map[string]any{}, "application/x-ndjson": map[string]any{}}
	}
	if r.Path == "/v1/export" {
		return map[string]any{"application/x-ndjson": map[string]any{}}
	}
	if r.Path == "/metrics" {
		return map[string]any{"text/plain": map[string]any{}}
	}
	schema := map[string]any{}
	if r.Answer != nil {
		schema = s.Of(reflect.TypeOf(r.Answer))
	}
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

// operationID names a route for programs: get_v1_runs_run_steps.
func (r *Route) operationID() string {
	return strings.ToLower(r.Method) + strings.NewReplacer("/", "_", "{", "", "}", "", ".", "_").Replace(r.Path)
}

func param(name, in, summary string) map[string]any {
	p := map[string]any{"name": name, "in": in, "description": summary, "schema": map[string]any{"type": "string"}}
	if in == "path" {
		p["required"] = true
	}
	return p
}
