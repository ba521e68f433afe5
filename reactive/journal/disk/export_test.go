package disk

// Queued returns the number of appends that wait for the committer.
func Queued(s *Store) int { return len(s.queue) }
