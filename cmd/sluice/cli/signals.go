package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// StopSignals returns the signals that ask this process to stop: SIGINT, SIGTERM, and SIGHUP unless it was ignored when the
// process was started, as by nohup.
func StopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
