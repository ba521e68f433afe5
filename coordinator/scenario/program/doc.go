// Package program finds and compiles the workflow of a scenario, so that the script answers the calls that it names and the
// engine carries out the others.
package program
