package inbox

// TurnLock is held by the goroutine that takes turns for a run. It is a channel and not a sync.Mutex because the code that a
// turn calls may block for any time.
type TurnLock chan struct{}

// NewTurnLock returns a lock that no goroutine holds.
func NewTurnLock() TurnLock { return make(TurnLock, 1) }

// Lock waits until no other goroutine holds the lock, and acquires it.
func (l TurnLock) Lock() { l <- struct{}{} }

// Unlock releases the lock.
func (l TurnLock) Unlock() { <-l }

// TryLock acquires the lock unless another goroutine holds it. It reports whether it did.
func (l TurnLock) TryLock() bool {
	select {
	case l <- struct{}{}:
		return true
	default:
		return false
	}
}
