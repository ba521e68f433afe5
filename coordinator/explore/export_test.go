package explore

// Bounded sets how many events may follow from one move, and how many all states together may hold.
func (o Options) Bounded(batch, events int) Options {
	o.batchMax, o.eventsMax = batch, events
	return o
}
