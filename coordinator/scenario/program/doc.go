// Package program makes the workflow of a scenario ready to be performed: finds and compiles it, so that the script answers the calls
// that it names, and the engine itself runs the others.
package program
