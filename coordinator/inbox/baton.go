package inbox

// Baton is held by the goroutine that takes turns for a run. It is no mutex: code that the run calls may take as long as it
// likes, and a goroutine that waits for that waits for a channel.
type Baton chan struct{}

// NewBaton returns a baton that no goroutine holds.
func NewBaton() Baton { return make(Baton, 1) }

// Lock waits until no other goroutine holds the baton, and takes it.
func (b Baton) Lock() { b <- struct{}{} }

// Unlock releases the baton.
func (b Baton) Unlock() { <-b }

// TryLock takes the baton, unless another goroutine holds it. It reports whether it has.
func (b Baton) TryLock() bool {
	select {
	case b <- struct{}{}:
		return true
	default:
		return false
	}
}
