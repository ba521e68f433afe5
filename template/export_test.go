package template

// Completed fills in the defaults, as Check does, for tests of trees that Check would refuse.
func (w *Workflow) Completed() *Workflow {
	w.complete()
	return w
}
