// Package clock keeps time: a Clock never goes back and follows the wall clock when that jumps ahead; Alarms call back at
// instants of a Clock.
package clock
