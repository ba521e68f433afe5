// Package usercode calls the program's code: functions passed to Sluice and methods of the program's values.
//
//	err := usercode.Call(func() error { return f(input) })
//
// A panic becomes an error with the stack, so that only the call fails and all other runs continue. Code may also end its
// goroutine with runtime.Goexit, as t.FailNow does in a test; no deferred function can prevent that. There are three ways to
// handle it:
//
//	Call      the goroutine belongs to the caller of Sluice: it ends
//	CallExit  the goroutine belongs to Sluice and may end: a function is called before it does
//	Apart     the goroutine must not end: the code runs on a separate one, which costs about a microsecond
//
// Nothing prevents code from ending the whole process: os.Exit, a stack overflow, concurrent writes to a map.
package usercode
