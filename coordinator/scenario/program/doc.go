// Package program finds and compiles the workflow of a scenario. The script answers the calls that it names; the engine itself
// carries out the other calls.
package program
