package net

// Writes is what iterations have written, and Variables what a scope holds.
type (
	Writes    = writes
	Variables = vars
)

// Conflict reports whether an iteration's write conflicts with those of others, or says what another has said, and keeps it
// where it does not conflict.
func (w *writes) Conflict(by int32, path []string, v any) (known, conflict bool) {
	known, err := w.conflict(by, path, v)
	if err != nil {
		return false, true
	}
	w.note(by, path, v)
	return known, false
}

// All, Copied and Write are what they are inside.
func (v *vars) All() map[string]any              { return v.all() }
func (v *vars) Copied() vars                     { return v.copied() }
func (v *vars) Write(path []string, x any) error { return v.write(path, x) }

// Appended appends to what is there under one key.
func (w *writes) Appended(by int32, key string, v, there any) ([]any, error) {
	return w.appended(by, []string{key}, v, &vars{values: map[string]any{key: there}})
}
