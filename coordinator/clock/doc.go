// Package clock says what instant it is, and tells when others have come. A Clock never goes back, and follows the wall clock when that
// jumps ahead; Alarms go off at instants of a Clock.
package clock
