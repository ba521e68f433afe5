// Package observe gives a run's updates as an rxgo Observable, for programs that compose streams that way. It is what
// Run.Watch yields and nothing else: every event once, in order, from any sequence, however slow the observer.
package observe
