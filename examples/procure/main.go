// Command procure buys kettles: it asks three providers for quotes, takes the best, and waits for an approval.
//
//	go run ./examples/procure             shows the winner, and the command that approves; Ctrl-C suspends the run
//	go run ./examples/procure -approve    approves by itself
//
// The providers are HTTP servers of this process: one is fast, one is cheap, one fails. The approval comes from another
// process, through the socket in the folder of the journal:
//
//	go run ./cmd/sluice decide --data out/procure RUN contract fulfilled --reason 'within budget'
//
// The workflow is built in workflow.go; procure.yaml is the same as a document, and procure.scenario.yaml tests it.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/flow"
	"github.com/sluiceflow/sluice/template/value"
)

// approvalTimeout is the time that a contract waits for its approval.
const approvalTimeout = 10 * time.Minute

func main() {
	dir := flag.String("data", "out/procure", "the folder of the journal")
	id := flag.String("run", "", "the run to go on with, or the id of a new one (default: a new id)")
	approve := flag.Bool("approve", false, "approve without asking a person")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := buy(ctx, *dir, *id, *approve); err != nil {
		fmt.Fprintln(os.Stderr, "procure:", err)
		os.Exit(1)
	}
}

// buy follows one run to its end.
func buy(ctx context.Context, dir, id string, approve bool) error {
	d, err := open(ctx, dir, procurement(approvalTimeout), providers, os.Stdout)
	if err != nil {
		return err
	}
	ask := d.showCommands
	if approve {
		ask = d.approve
	}
	return errors.Join(d.buy(ctx, id, Order{Item: "kettle", Quantity: 3}, ask), d.close())
}

// desk is an engine with its market, and the socket through which other processes send commands.
type desk struct {
	dir      string
	workflow flow.Workflow[Order, Contract]
	market   *market
	engine   *coordinator.Engine
	control  *control.Server
	out      io.Writer
}

// open starts the providers first, because unfinished runs continue as soon as the engine has started.
func open(ctx context.Context, dir string, w flow.Workflow[Order, Contract], providers []provider, out io.Writer) (*desk, error) {
	d := &desk{dir: dir, workflow: w, out: &syncWriter{to: out}}
	var err error
	if d.market, err = openMarket(providers, d.out); err != nil {
		return nil, err
	}
	d.engine, err = sluice.Open(ctx, dir, coordinator.Config{Directory: directory.Of(d.market.directory())})
	if err == nil {
		d.control, err = control.Serve(dir, d.engine)
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// close stops everything in the reverse order. Calls in progress have a second to end.
func (d *desk) close() error {
	var errs []error
	if d.control != nil {
		errs = append(errs, d.control.Close())
	}
	if d.engine != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		errs = append(errs, d.engine.Shutdown(ctx))
	}
	return errors.Join(append(errs, d.market.close())...)
}

// buy starts a run, or finds it, and shows its updates until it has ended. When a person must decide, it calls ask, once.
func (d *desk) buy(ctx context.Context, id string, order Order, ask func(context.Context, *coordinator.Run) error) error {
	var options []coordinator.Option
	if id != "" {
		options = append(options, coordinator.WithID(id))
	}
	run, err := sluice.Start(ctx, d.engine, d.workflow, order, options...)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "run %s\n", run.ID())
	for update, err := range run.Watch(ctx, 1) {
		if err == nil {
			err = d.show(ctx, run.Run, &update, ask)
		}
		if ctx.Err() != nil {
			fmt.Fprintf(d.out, "suspended; to go on, run:\n  go run ./examples/procure -data '%s' -run %s\n", d.dir, run.ID())
			return nil
		}
		if err != nil {
			return err
		}
	}
	result, err := run.Wait(ctx)
	if err != nil {
		return err
	}
	return d.conclude(result)
}

// show prints one event, if it matters.
func (d *desk) show(ctx context.Context, run *coordinator.Run, u *coordinator.Update, ask func(context.Context, *coordinator.Run) error) error {
	if u.Event.Type == journal.DecisionReceived {
		fmt.Fprintf(d.out, "%s: %s (%s)\n", u.Event.Detail.Actor, u.Event.Detail.State, cmp.Or(u.Event.Detail.Reason, "no reason given"))
	}
	for _, change := range u.Changes {
		if change.To != reactive.Completed && change.To != reactive.Failed || change.From != reactive.Running {
			continue
		}
		switch change.Step {
		case "solicit":
			if err := d.showQuotes(ctx, run, change.Attempt); err != nil {
				return err
			}
		case "contract":
			if err := d.showContract(ctx, run, u.Event.Value, ask); err != nil {
				return err
			}
		}
	}
	return nil
}

// showQuotes prints the answers of the providers in an attempt.
func (d *desk) showQuotes(ctx context.Context, run *coordinator.Run, attempt int32) error {
	solicit, err := stepOf(ctx, run, "solicit")
	if err != nil {
		return err
	}
	for _, one := range solicit.Dispatches {
		switch {
		case one.Attempt != attempt:
		case one.State == call.Responded:
			var a answer[Quote]
			if err := value.Convert(one.Output, &a); err != nil {
				return err
			}
			fmt.Fprintf(d.out, "%s asks %s\n", one.Participant, money(a.Body.Price))
		case one.Failure != nil:
			fmt.Fprintf(d.out, "%s %s: %s\n", one.Participant, one.State, one.Failure.Code)
		default:
			fmt.Fprintf(d.out, "%s %s\n", one.Participant, one.State)
		}
	}
	return nil
}

// showContract prints the winner, and calls ask unless the decision has been made.
func (d *desk) showContract(ctx context.Context, run *coordinator.Run, output any, ask func(context.Context, *coordinator.Run) error) error {
	var c Contract
	if err := value.Convert(output, &c); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "the best quote is that of %s: %s in all\n", c.Provider, money(c.Total))
	contract, err := stepOf(ctx, run, "contract")
	if err != nil || !contract.Decidable {
		return err
	}
	return ask(ctx, run)
}

// stepOf returns the current state of a step.
func stepOf(ctx context.Context, run *coordinator.Run, id string) (coordinator.StepState, error) {
	state, err := run.State(ctx)
	if err != nil {
		return coordinator.StepState{}, err
	}
	for _, step := range state.Steps {
		if step.Step == id {
			return step, nil
		}
	}
	return coordinator.StepState{}, fmt.Errorf("%w: %s", coordinator.ErrStepNotFound, id)
}

// showCommands prints the commands that approve and refuse the contract.
func (d *desk) showCommands(_ context.Context, run *coordinator.Run) error {
	command := fmt.Sprintf("go run ./cmd/sluice decide --data '%s' %s contract", d.dir, run.ID())
	fmt.Fprintf(d.out, "to approve, in another terminal:\n  %s fulfilled --reason 'within budget'\n", command)
	fmt.Fprintf(d.out, "to refuse:\n  %s not_fulfilled --reason 'too dear'\n", command)
	return nil
}

// approve decides that the contract is fulfilled. It ignores the error if another process has decided before.
func (d *desk) approve(ctx context.Context, run *coordinator.Run) error {
	err := run.As("procure").Decide(ctx, "contract", true, "-approve was given")
	if errors.Is(err, coordinator.ErrNotPossible) || errors.Is(err, coordinator.ErrFinished) {
		return nil
	}
	return err
}

// conclude prints the end of the run.
func (d *desk) conclude(result *sluice.Result[Contract]) error {
	if err := result.Err(); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "%s: from %s for %s\n", result.Status, result.Output.Provider, money(result.Output.Total))
	return nil
}

// money formats an amount in cents.
func money(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }
