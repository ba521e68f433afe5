// Package journaltest checks that an implementation of journal.Store keeps its promises.
//
//	func TestStore(t *testing.T) {
//		journaltest.TestStore(t, func(t *testing.T) journal.Store { return memory.New() })
//	}
//
// TestStore holds for every store. TestDurable adds what holds for one that survives its process: whatever Append
// acknowledged is there after a restart, after the process was killed at any moment, and after damage it is either there
// unchanged or the store says that it is not. It flips every byte of a small store; with SLUICE_EXHAUSTIVE=1 in the
// environment it also cuts every file at every length, and with -short it tries a sample.
package journaltest
