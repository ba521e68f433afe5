// Package journaltest tests implementations of journal.Store.
//
//	func TestStore(t *testing.T) {
//		journaltest.TestStore(t, func(t *testing.T) journal.Store { return memory.New() })
//	}
//
// TestStore tests the contract of every store, TestLists and TestSweeps the contract of its lists and deletions, and TestContent the
// contract of a journal.ContentStore. TestDurable tests the additional contract of a store that survives its process: acknowledged
// appends exist after a restart and after the process was killed at any moment, and after damage they either exist unchanged or the
// store reports an error. The same applies to content and trims of a journal.ContentStore. It flips a bit of every eleventh byte of a
// small store and cuts its files at every eleventh length, with SLUICE_EXHAUSTIVE=1 in the environment at every one; with -short it
// tries fewer.
package journaltest
