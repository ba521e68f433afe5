package disk

// Queued is how many appends wait for the committer.
func Queued(s *Store) int { return len(s.queue) }
