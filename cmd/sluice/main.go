// Command sluice runs workflows and looks at them. `sluice help` says what it can do.
//
// It ends with 0 when it did what was asked, with 1 when a run did not complete, with 2 when it was asked wrongly or a
// document or input was refused, and with 130 when it was interrupted. What was asked for goes to standard output, what
// there is to say besides to standard error.
package main

import "os"

func main() { os.Exit(execute(os.Args[1:])) }
