// Package usercode calls code that is not ours: what a program hands to Sluice as functions and as methods of its values.
//
//	err := usercode.Call(func() error { return f(input) })
//
// A panic in it becomes an error that holds the stack, so that it is the failure of the call that was made, and the process with all
// other runs goes on. Code may also end its goroutine with runtime.Goexit, as t.FailNow does in a test, and no deferred
// function can undo that. There are three ways to live with it:
//
//	Call      the goroutine is the caller's own: it ends, as the code wanted
//	CallExit  the goroutine is ours and may end: a function is called on its way out
//	Apart     the goroutine must not end: the code gets one of its own, for about a microsecond
//
// Nothing can be done about what ends the whole process: os.Exit, a stack that overflows, a map that two goroutines write to.
package usercode
