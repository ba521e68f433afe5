// Package script reads the scripted answers of a scenario by the names of steps and operations, and returns them in turn.
//
//	operations:
//	  pay: {after: PT2S, error: {code: declined}}
//	  ask: {participants: {first: {never: true}, second: [{output: 3}, {output: 4}]}}
//
// A Script is immutable. Its Parts count the answers taken. Package scenario interprets the answers.
package script
