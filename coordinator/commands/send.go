package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/starting"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Send sends the run a message, which a step that waits for its name takes, now or later. A message that no step of the
// workflow waits for is journaled and logged: see Awaits. See coordinator.WithKey.
func (c Commands) Send(ctx context.Context, name string, payload any, opts ...starting.KeyOption) error {
	key := ""
	for _, o := range opts {
		key = string(o) // the last counts, as in Start
	}
	if err := cmp.Or(c.in.Engine.CheckOpen(), limits.CheckKey(key, "")); err != nil {
		return err
	}
	v, err := value.Own(payload)
	if err != nil {
		return fmt.Errorf("payload of message %q: %w", name, err)
	}
	err = c.command(ctx, journal.Event{Type: journal.MessageReceived, Value: v, Detail: &journal.Detail{Name: name, ID: key}})
	if err == nil && c.run.Would() == nil {
		c.logUnawaited(ctx, name)
	}
	return err
}

// logUnawaited logs that a message was sent for which no step waits.
func (c Commands) logUnawaited(ctx context.Context, message string) {
	if e, ok := errors.AsType[*inspect.UnawaitedError](c.run.Awaits(ctx, message)); ok {
		c.in.Logger.Warn("a message was sent that no step waits for", "run", c.run.ID(), "message", message, "reason", e)
	}
}
