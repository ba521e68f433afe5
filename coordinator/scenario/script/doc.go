// Package script reads the scripted answers of a scenario, by the name of a step or an operation, and returns them in turn.
//
//	operations:
//	  pay: {after: PT2S, error: {code: declined}}
//	  ask: {participants: {first: {never: true}, second: [{output: 3}, {output: 4}]}}
//
// A Script is immutable. Parts count the answers taken from it; package scenario interprets the answers.
package script
