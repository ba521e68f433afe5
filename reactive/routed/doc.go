// Package routed is what a run of routed steps tells of itself, as plain data: where its steps stand, what they wait for, what
// its calls are for, and what happens in it. Every kind of reactive.Body answers in these terms.
package routed
