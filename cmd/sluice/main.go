// Command sluice runs workflows, and shows and changes runs. `sluice help` lists its verbs.
//
// It ends with 0 on success, with 1 if a run did not complete or an error occurred, with 2 for wrong usage or if a
// document or input was refused, with 3 if check has not seen everything, and with 130 if it was interrupted. The result goes to standard output, everything
// else to standard error.
//
// The verbs are in packages below this one:
//
//	run         start or resume runs, and follow them         run start serve
//	commands    change a run, publish a workflow              publish send patch decide pause resume cancel abort retry
//	runs        read a journal                                runs explain doctor
//	documents   read documents, without a journal             validate check test import schema
//	graph       draw a workflow or the calls of a run         graph
//	view        show a run while it goes on                   (progress is the tree that it draws)
//	cli         code that all verbs share
//
// To add a verb: write it in the package that it belongs to, with its help and examples, and add it to the New of that package.
package main

import "os"

func main() { os.Exit(execute(os.Args[1:])) }
