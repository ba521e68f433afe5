// Package script holds the scripted answers to the calls of a scenario: it reads them from a document, by the name of a step
// or an operation, and returns them in turn.
//
//	operations:
//	  pay: {after: PT2S, error: {code: declined}}
//	  ask: {participants: {first: {never: true}, second: [{output: 3}, {output: 4}]}}
//
// A Script is immutable. Parts count the answers taken from it during a run; package scenario interprets the answers.
package script
