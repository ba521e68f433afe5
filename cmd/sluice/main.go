// Command sluice runs workflows, and shows and changes runs. `sluice help` lists its verbs.
//
// It ends with 0 on success, with 1 if a run did not complete or an error occurred, with 2 for wrong usage or if a document or input was
// refused, with 3 if check has not explored everything, and with 130 if it was interrupted. The result goes to standard output,
// everything else to standard error.
//
// The verbs are in packages below this one:
//
//	run         start or resume runs, and follow them         run start rerun serve
//	commands    change or delete a run, publish a workflow    publish send patch decide pause resume cancel abort retry
//	                                                      delete snapshot keep gc
//	runs        read a journal                                runs explain doctor
//	documents   read documents, without a journal             validate check test convert schema
//	graph       draw a workflow or the calls of a run         graph
//	changes     compare and switch versions of a workflow     diff shadow move
//	moves       copy runs and journals                        export import backup
//	bulk        act on many runs                              bulk
//	serving     the listener and the tokens of a host         token
//	view        show a run while it is under way              (progress is the tree that it draws)
//	cli         code that all verbs share
//
// To add a verb, write it in the package that it belongs to, with its help and examples, and add it to New of that package.
package main

import "os"

func main() { os.Exit(execute(os.Args[1:])) }
