// Command fetch reads all pages of four shops, two shops at once, and reports after an approval.
//
//	go run ./examples/fetch             shows the pages read, and the command that approves; Ctrl-C suspends the run
//	go run ./examples/fetch -approve    approves by itself
//	go run ./examples/fetch -run RUN    continues a run that was suspended at the gate
//
// The shops are an HTTP server of this process, which answers every third request with 429. playbook.yaml defines the order of the
// requests and their retries. The approval comes from another process, through the socket in the folder:
//
//	go run ./cmd/sluice patch --data out/fetch RUN ctx.approved=true
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

//go:embed playbook.yaml
var document []byte

// pages holds the number of pages of each shop.
var pages = map[string]int{"north": 4, "south": 2, "east": 3, "west": 1}

func main() {
	dir := flag.String("data", "out/fetch", "the folder of the journal")
	id := flag.String("run", "", "the `id` of a new run, or of one that was suspended at the gate")
	approve := flag.Bool("approve", false, "approve without asking a person")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := fetch(ctx, os.Stdout, *dir, *id, *approve); err != nil {
		fmt.Fprintln(os.Stderr, "fetch:", err)
		os.Exit(1)
	}
}

// Read describes the pages read of one shop.
type Read struct {
	Shop   string `json:"shop"`
	Orders int    `json:"orders"`
}

// Findings is the input of the final step.
type Findings struct {
	Status   string `json:"status"`
	Failures []any  `json:"failures"`
	Read     []Read `json:"read"`
}

// summary is the tool of the final step.
var summary = operation.Define("summary", func(_ context.Context, f Findings) (string, error) {
	var b strings.Builder
	total := 0
	for _, r := range f.Read {
		fmt.Fprintf(&b, "%s %d, ", r.Shop, r.Orders)
		total += r.Orders
	}
	return fmt.Sprintf("%s: %s%d orders in all, %d failures", f.Status, b.String(), total, len(f.Failures)), nil
})

// fetch follows one run to its end.
func fetch(ctx context.Context, out io.Writer, dir, id string, approve bool) (err error) {
	shops, err := openShops(pages)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shops.close()) }()
	engine, err := sluice.Open(ctx, dir, coordinator.Config{
		Operations: []coordinator.Operation{summary},
		PickUp:     func(h journal.Head) bool { return h.Run == id }, // the shops of other runs no longer exist
	})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		err = errors.Join(err, engine.Shutdown(ctx))
	}()
	door, err := control.Serve(dir, engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, door.Close()) }()
	run, err := start(ctx, engine, id, shops.url)
	if err != nil {
		return err
	}
	return follow(ctx, out, run, dir, approve)
}

// start starts a run of the playbook, or returns the run with that id. An existing run must wait at the gate, since its shops no longer
// exist.
func start(ctx context.Context, engine *coordinator.Engine, id, url string) (*coordinator.Run, error) {
	if id != "" {
		if run, err := engine.Run(ctx, id); !errors.Is(err, coordinator.ErrRunNotFound) {
			return run, err
		}
	}
	playbook, err := kinds.Load("playbook.yaml", document, template.Known{
		Operation: func(name string) bool { return name == "summary" }, Operations: []string{"summary"},
	})
	if err != nil {
		return nil, err
	}
	var options []coordinator.Option
	if id != "" {
		options = append(options, coordinator.WithID(id))
	}
	return engine.Start(ctx, playbook.Workflow, map[string]any{"url": url}, options...)
}

// follow shows the updates of the run until it has ended. When the run waits at its gate, follow approves it, or prints the command
// that approves it.
func follow(ctx context.Context, out io.Writer, run *coordinator.Run, dir string, approve bool) error {
	fmt.Fprintf(out, "run %s\n", run.ID())
	fetched := 0
	for update, err := range run.Watch(ctx, 1) {
		if ctx.Err() != nil {
			fmt.Fprintf(out, "suspended; to go on, run:\n  go run ./examples/fetch -data '%s' -run %s\n", dir, run.ID())
			return nil
		}
		if err != nil {
			return err
		}
		switch e := update.Event; e.Type {
		case journal.CallResponded:
			fetched++
		case journal.CallError:
			fmt.Fprintf(out, "%s: %s\n", e.Node, e.Detail.Failure.Code)
		case journal.ContextPatched:
			fmt.Fprintf(out, "%s lets it go on\n", e.Detail.Actor)
		}
		if update.Status == reactive.RunWaiting {
			state, err := run.State(ctx)
			if err != nil {
				return err
			}
			if state.Seq != update.Event.Seq || state.Due > 0 { // the run has later events, or waits for a retry
				continue
			}
			fmt.Fprintf(out, "%d pages are read\n", fetched)
			if err := ask(ctx, out, run, dir, approve); err != nil {
				return err
			}
		}
	}
	result, err := run.Wait(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, result.Output)
	return result.Err()
}

func ask(ctx context.Context, out io.Writer, run *coordinator.Run, dir string, approve bool) error {
	if approve {
		return run.As("fetch").Patch(ctx, map[string]any{"approved": true})
	}
	fmt.Fprintf(out, "to let it go on, in another terminal:\n  go run ./cmd/sluice patch --data '%s' %s ctx.approved=true\n", dir, run.ID())
	return nil
}
