package httpapi

import "github.com/sluiceflow/sluice/coordinator/httpapi/openapi"

// OpenAPI returns the description of the routes, as openapi.json has it: made from the table and the types.
func OpenAPI() ([]byte, error) {
	described := make([]openapi.Route, len(routes))
	for i, r := range routes {
		described[i] = openapi.Route{
			Method: r.Method, Path: r.Path, Role: r.Role.String(), Open: r.Role == Nobody, Summary: r.Summary, Query: params(r.Query), Many: r.Many,
			Headers: params(r.headers()), Body: r.Body, Status: r.Status, Answer: r.Answer, Preview: r.Preview,
		}
	}
	return openapi.Document(described, Problem{})
}

func params(list []Param) []openapi.Param {
	described := make([]openapi.Param, len(list))
	for i, p := range list {
		described[i] = openapi.Param(p)
	}
	return described
}
