package net

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
)

// RefuseAbort returns an error if a step-run cannot be aborted: only a step-run in progress can.
func (n *Net) RefuseAbort(key string) error {
	if n.Live(key) {
		return nil
	}
	step, err := n.stepOf(key)
	switch {
	case err != nil:
		return err
	case step == key:
		return fmt.Errorf("name the step-run, such as %s@1", step)
	}
	return fmt.Errorf("step-run %q is not under way", key)
}

// RefuseRetry returns an error, because only an open call can be retried: the run has continued after everything else.
func (n *Net) RefuseRetry(key string) error {
	if _, err := n.stepOf(key); err != nil {
		return err
	}
	return fmt.Errorf("%q has no open call to repeat: a playbook's rules say what is attempted again, or start a new run", key)
}

// stepOf returns the step of a step-run's key.
func (n *Net) stepOf(key string) (string, error) {
	step, _, _ := strings.Cut(key, "@")
	if _, known := n.book.StepIndex(step); !known {
		return "", fmt.Errorf("%w: %q", reactive.ErrUnknown, key)
	}
	return step, nil
}
