package bulk

// AtOnce is the number of runs of an act that are asked at the same time.
const AtOnce = atOnce

// SetSlice sets the number of runs in a slice.
func SetSlice(a Acts, n int) { a.slice.Store(int32(n)) }
