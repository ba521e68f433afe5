package net

// Writes is what iterations have written, and Variables what a scope holds.
type (
	Writes    = writes
	Variables = vars
)

// Conflict reports whether an iteration's write conflicts with those of others, and keeps it where it does not.
func (w *writes) Conflict(by int32, path []string, v any) bool {
	if w.conflict(by, path, v) != nil {
		return true
	}
	w.note(by, path, v)
	return false
}

// All, Copied and Write are what they are inside.
func (v *vars) All() map[string]any              { return v.all() }
func (v *vars) Copied() vars                     { return v.copied() }
func (v *vars) Write(path []string, x any) error { return v.write(path, x) }
