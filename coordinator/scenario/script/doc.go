// Package script is how the calls of a scenario are answered: answers by the name of a step or an operation, read out of a
// document and served in turn.
//
//	operations:
//	  pay: {after: PT2S, error: {code: declined}}
//	  ask: {participants: {first: {never: true}, second: [{output: 3}, {output: 4}]}}
//
// A Script is immutable. Parts count the answers taken from it while it is performed; package scenario interprets the
// answers.
package script
