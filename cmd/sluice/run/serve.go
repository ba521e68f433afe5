package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/serving"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// stopTime bounds the time that calls under way have to end when the host stops; then they are stopped.
const stopTime = 5 * time.Second

// surveyMax bounds the waiting runs that a host examines when it starts. Faults of the others are found at their next event.
const surveyMax = 10_000

func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Work on all runs of a folder, as a host",
		Long: `Serve works on all runs of a folder: it continues the open runs, and carries out the requests of other commands with the same
--data: it starts, shows and changes runs. It creates the folder if there is none. When it is ready, it prints one line.

A run that cannot go on in this process, because something that it needs is missing or its journal is damaged, is parked: the
log has the reason, once, at level WARN, and so have sluice runs and sluice runs show. One process at a time works on a folder.

Commands reach the host through the socket control.sock in the folder, which only the same user may use. A program that a
workflow runs starts in the folder from which its run was started, and receives the variables PATH, HOME, LANG and TMPDIR of the
host, those that --pass-env names, those that its binding sets, and of the call SLUICE_RUN, SLUICE_STEP, SLUICE_ATTEMPT and
SLUICE_IDEMPOTENCY_KEY, as with sluice run.

It deletes expired runs (see sluice keep): when it starts, when the rules change, and as often as the shortest time requires,
at least once an hour; in small slices with pauses, so that its runs go on. If a folder keeps everything, the host only logs
how much keeping runs for 30 days would free.

With --listen it also answers HTTP, so that programs start, change and follow runs: GET /openapi.json describes it. Documents
that clients send may use only the kinds of access to this machine that --allow names. Each request needs a token (see sluice
token), also from this machine; --no-auth is for loopback addresses only. Another address needs TLS, or a proxy with TLS. Commands
of a client are journaled under the name of its token.

SIGTERM, SIGINT (Ctrl-C) and SIGHUP stop the host: it takes no more requests, calls under way have five seconds to end and are
then stopped, and after at most ten seconds it ends. A second signal ends it at once. In both cases nothing is lost: open runs
go on when a process works on the folder again, also after a crash.

It ends with 0 after it was asked to stop, and with 1 if it cannot work on the folder. The log goes to standard error.`,
		Example: `  sluice serve --data ./journal
  sluice serve --data ./journal --pass-env KUBECONFIG
  sluice serve --data ./journal --listen 127.0.0.1:8080`,
		Args: cli.Arguments,
	}
	var dir string
	var passEnv []string
	var network serving.Flags
	var worlds worldFlags
	cli.JournalFlag(cmd, &dir)
	network.Add(cmd)
	worlds.add(cmd)
	cmd.Flags().StringArrayVar(&passEnv, "pass-env", nil, "pass the environment variable `NAME` to programs, too (may be repeated)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for _, name := range passEnv {
			if err := operation.CheckVariable(name); err != nil {
				return fmt.Errorf("--pass-env: %w", err)
			}
		}
		if err := network.Check(); err != nil {
			return cli.Refuse(err)
		}
		stops := listen(nil)
		defer stops.close()
		config := coordinator.Config{PassEnv: passEnv}
		worlds.configure(&config)
		return serve(cmd, dir, config, &network, stops)
	}
	return cmd
}

// serve works on a folder until it is asked to stop.
func serve(cmd *cobra.Command, dir string, config coordinator.Config, network *serving.Flags, stops *interrupts) error {
	ctx, logger := cmd.Context(), slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	store, err := folder.Take(ctx, dir, disk.Config{Logger: logger})
	if err != nil {
		return cli.ExitOf(err)
	}
	config.Logger = logger
	if network.Listen != "" {
		if config.Workers, err = workers.ReadKey(dir); err != nil {
			return cli.Fail(errors.Join(err, store.Close()))
		}
	}
	engine, err := coordinator.New(ctx, store, config)
	if err != nil {
		return cli.ExitOf(err)
	}
	record, err := serveSocket(dir, engine, network, logger)
	if err != nil {
		stop(ctx, engine)
		return cli.Fail(err)
	}
	at := ""
	if record != nil {
		listening, err := network.Start(ctx, engine, record, dir, cmd.Root().Version, cli.UserName(), logger)
		if err != nil {
			stop(ctx, engine)
			return cli.Fail(err)
		}
		at = " and answers " + listening.URL
		if listening.Login != "" {
			at += "\nlog in from a browser, once within an hour: " + listening.Login
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "ready: process %d works on %s%s\n", os.Getpid(), dir, at)
	var beside sync.WaitGroup
	defer beside.Wait()
	keeping, stopKeeping := context.WithCancel(ctx)
	defer stopKeeping()
	beside.Go(func() { checkWaitingRuns(ctx, engine) }) // until the engine has shut down
	beside.Go(func() { collectPeriodically(keeping, engine, logger) })
	<-stops.first()
	stopKeeping()
	logger.Info("stopping: no more requests are taken, and calls under way have time to end", "time", stopTime)
	if err := stop(ctx, engine); err != nil {
		return cli.Fail(err)
	}
	return nil
}

// serveSocket serves the socket of the folder. If the host listens, it also opens the audit, which records requests by the socket, too; else
// it returns nil.
func serveSocket(dir string, engine *coordinator.Engine, network *serving.Flags, logger *slog.Logger) (*audit.Log, error) {
	if network.Listen == "" {
		_, err := control.Serve(dir, engine)
		return nil, err
	}
	record, err := audit.Open(dir, logger)
	if err != nil {
		return nil, err
	}
	if _, err := control.ServeAudited(dir, engine, record); err != nil {
		return nil, errors.Join(err, record.Close())
	}
	return record, nil
}

// checkWaitingRuns examines waiting and paused runs. When an engine opens, it reads only those that wait for time. survey finds the others that
// cannot go on, and logs them before their next event.
func checkWaitingRuns(ctx context.Context, engine *coordinator.Engine) {
	looked := 0
	for head, err := range engine.Find(ctx, "status:waiting,paused") {
		if err != nil || looked == surveyMax {
			return
		}
		looked++
		if run, err := engine.Run(ctx, head.Run); err == nil {
			_ = run.Parked(ctx) // logs newly parked runs
		}
	}
}

// stop shuts an engine down. Its calls have stopTime to end.
func stop(ctx context.Context, engine *coordinator.Engine) error {
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	return engine.Shutdown(ctx)
}
