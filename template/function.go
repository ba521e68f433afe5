package template

// Function is a Go function that a workflow calls by name: see Func.
type Function struct{}
