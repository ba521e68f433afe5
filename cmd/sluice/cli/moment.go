package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
)

// Moment is the value of a flag that names a moment of a run.
type Moment struct {
	api.Moment
	text string
}

var _ pflag.Value = (*Moment)(nil)

// MomentFlag adds the flag --at to a command, and returns its value.
func MomentFlag(cmd *cobra.Command) *Moment {
	m := &Moment{}
	cmd.Flags().Var(m, "at", "as the run was then: after event `SEQ`, or at a time such as 2026-01-31T09:30:00Z or, local, "+strconv.Quote("2026-01-31 09:30:00"))
	return m
}

// Of returns a client that describes runs at the moment; c itself if the flag was not set.
func (m *Moment) Of(c *folder.Client) *folder.Client {
	if m.text == "" {
		return c
	}
	return c.At(m.Moment)
}

func (m *Moment) String() string { return m.text }

// Type implements pflag.Value.
func (m *Moment) Type() string { return "moment" }

// Set parses the number of an event or an instant. Times are printed in local time and truncated to a second or a millisecond: such a time
// means the end of that second or millisecond.
func (m *Moment) Set(text string) error {
	m.text, m.Moment = text, api.Moment{}
	if seq, err := strconv.ParseUint(text, 10, 64); err == nil && seq > 0 {
		m.Seq = seq
		return nil
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		m.Time = at
		return nil
	}
	if at, err := time.ParseInLocation(Clock, text, time.Local); err == nil {
		printed := time.Second
		if strings.Contains(text, ".") {
			printed = time.Millisecond
		}
		m.Time = at.Add(printed - 1)
		return nil
	}
	return errors.New("it is the number of an event, from 1, or a time such as 2026-01-31T09:30:00Z or \"2026-01-31 09:30:00\"")
}
