package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/sluiceflow/sluice/coordinator"
)

// Two engines, one after the other on the same folder, simulate two processes.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	for _, act := range []func(context.Context, *coordinator.Engine, io.Writer) error{place, approve} {
		engine, err := open(ctx, dir)
		if err != nil {
			fmt.Println(err)
			return
		}
		if err := act(ctx, engine, os.Stdout); err != nil {
			fmt.Println(err)
		}
		if err := engine.Shutdown(ctx); err != nil {
			fmt.Println(err)
		}
		fmt.Println("---")
	}
	// Output:
	// charge running
	// charge failed
	// charge running
	// charge completed
	// approval running
	// to approve: go run ./examples/order approve
	// ---
	// charge running
	// charge failed
	// charge running
	// charge completed
	// approval running
	// approval completed
	// refund skipped
	// ship running
	// ship completed
	// completed: a kettle is on its way
	// ---
}
