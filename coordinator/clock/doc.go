// Package clock tells the time: a Clock never goes back, and follows the wall clock when that jumps ahead; Alarms call a
// function at instants of a Clock.
package clock
