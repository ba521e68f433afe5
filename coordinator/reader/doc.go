// Package reader reads runs from a store: where they stand, what has happened and happens, why, what was called, and what would
// be in their way. A Reader follows a run's journal from its beginning and derives everything from that, as package inspect says;
// the run is not held up, and nothing is changed. What it cannot know from the journal, it asks the process that it is in, which
// is a Process.
package reader
