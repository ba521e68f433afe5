// Package routed describes a run of routed steps as plain data: the states of its steps, its waits, the purposes of its
// calls, and views of its changes. It serves every kind of reactive.Body.
package routed
