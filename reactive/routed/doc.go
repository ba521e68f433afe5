// Package routed describes a run of routed steps as plain data: the states of its steps, what they wait for, the purpose of
// its calls, and the views of what happens in it. Every kind of reactive.Body answers in these terms.
package routed
