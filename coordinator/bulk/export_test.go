package bulk

// AtOnce is how many runs of an act are asked at the same time.
const AtOnce = atOnce

// SetSlice sets how many runs a slice has.
func SetSlice(a Acts, n int) { a.slice.Store(int32(n)) }
