package explore

// Bounded sets the maximum number of events that follow from one move, and of the events of all states together.
func (o Options) Bounded(batch, events int) Options {
	o.batchMax, o.eventsMax = batch, events
	return o
}
