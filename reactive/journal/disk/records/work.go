package records

// Work counts the operations of a store, for tests and measurements.
type Work struct {
	HeadsRead    int64 // by Heads, List and Head
	IndexMade    int64 // appended heads whose keys in indexes were made
	IndexWritten int64 // keys of indexes
	BlobsRead    int64 // values that are stored outside of their events
}
