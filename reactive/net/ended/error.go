package ended

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Error returns an error for rules and guards, or null if there is none.
func Error(f *journal.Failure) value.Value {
	if f == nil {
		return nil
	}
	details, err := value.Of(f.Details)
	if err != nil {
		details = nil
	}
	return map[string]any{
		"kind": kind(f), "code": f.Code, "message": f.Message, "retryable": f.Retryable, "details": details,
	}
}

// Kinded replaces the code of a failure by its kind, if they differ.
func Kinded(f *journal.Failure) *journal.Failure {
	k := kind(f)
	if k == f.Code {
		return f
	}
	named := *f
	named.Code = k
	return &named
}

// kind returns the kind of an error for rules.
func kind(f *journal.Failure) string {
	details, _ := value.Of(f.Details)
	if object, ok := details.(map[string]any); ok {
		if k, ok := object["kind"].(string); ok && k != "" {
			return k
		}
	}
	return f.Code
}
