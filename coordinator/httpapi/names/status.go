package names

import (
	"cmp"
	"net/http"
)

// statuses has the HTTP status of each code; the others are 500.
var statuses = map[string]int{
	"bad_request": 400, "ambiguous": 400, "unauthorized": 401, "forbidden": 403, "cross_origin": 403,
	"no_route": 404, "not_published": 404, "run_not_found": 404, "step_not_found": 404, "cell_not_found": 404, "no_moment": 404,
	"method_not_allowed": 405, "run_exists": 409, "finished": 409, "not_possible": 409, "incomplete": 409, "not_world": 409, "missing": 409, "parked": 409,
	"mailbox_full": 409, "limit": 422, "deleted": 410, "trimmed": 410, "changed": 412, "body_too_large": 413, "too_large": 413,
	"foreign_lease": 403, "late": 410, "no_workers": 409,
	"media_type": 415, "bad_range": 416, "wrong_host": 421, "bad_input": 422, "invalid_message": 422, "too_many_streams": 429, "busy": 503,
	"shutdown": 503, "read_only": 503,
	"key_used": 409, "count_changed": 409, "act_under_way": 409, "act_not_found": 404, "job_not_found": 404, "no_shadow": 409, "other_kind": 409,
	"bad_document": 422, "not_allowed": 422, "no_value": 404, "too_many_requests": 429, "refused_file": 422,
}

// Status returns the HTTP status of an error with a code.
func Status(code string) int { return cmp.Or(statuses[code], http.StatusInternalServerError) }
