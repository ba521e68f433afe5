// Package registry holds what a process can run: workflows with their operations, Go functions, child documents and input schemas.
// It checks and compiles a document once, and finds again what runs in the store were started with.
//
//	documents, Go definitions ──▶ Add ──────▶ Entry ◀── Read, Find ◀── the hash that a run was started with
//	                                            │
//	                                            └── Plan, Schema, Performers, Functions
//
// How many compiled workflows it remembers is bounded, see WorkflowsMax. What a definition lacks in this program is said by its
// entry (Entry.Missing): its runs can be read, and go on when the program has learned it.
package registry
