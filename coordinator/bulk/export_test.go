package bulk

// SetSlice sets how many runs a slice has.
func SetSlice(a Acts, n int) { a.slice = n }
