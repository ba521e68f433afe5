// Package script is how the calls of a scenario are answered: answers by the name of a step or an operation, read out of a
// document and handed out in turn.
//
//	operations:
//	  pay: {after: PT2S, error: {code: declined}}
//	  ask: {participants: {first: {never: true}, second: [{output: 3}, {output: 4}]}}
//
// A Script is what the document says and never changes. Parts count what has been taken of it while it is performed; what an
// answer means to a run is for package scenario to say.
package script
