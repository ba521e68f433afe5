// Package registry holds all that a process can run: workflows with their operations, Go functions, child documents and input
// schemas. It checks and compiles each document once, and finds the definitions of runs in the store.
//
//	documents, Go definitions ──▶ Add ──────▶ Entry ◀── Read, Find ◀── the hash that a run was started with
//	                                            │
//	                                            └── Plan, Schema, Performers, Functions
//
// WorkflowsMax bounds the compiled workflows that it keeps. Entry.Missing names the operations and functions that this program
// lacks to run a definition: its runs can be read, and go on once the program has registered them.
package registry
