package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/find"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/document"
)

func TestReportPrintsTheErrorAndReturnsItsCode(t *testing.T) {
	at := &cobra.Command{Use: "sluice"}
	fault := &document.Error{Pos: document.Pos{File: "w.yaml", Line: 3, Col: 5}, Msg: "unknown key"}
	for name, c := range map[string]struct {
		err  error
		code int
		says string
	}{
		"none":             {nil, Done, ""},
		"usage":            {errors.New("unknown flag: --x\n"), Refused, "sluice: unknown flag: --x\nRun 'sluice --help' for usage.\n"},
		"failed":           {Fail(errors.New("no disk")), Failed, "sluice: no disk\n"},
		"wrapped":          {fmt.Errorf("while testing: %w", Fail(errors.New("no disk"))), Failed, "sluice: no disk\n"},
		"already said":     {Refuse(nil), Refused, ""},
		"interrupted":      {&Exit{Interrupted, nil}, Interrupted, ""},
		"of a document":    {Refuse(fault), Refused, fault.Error() + "\n"},
		"of its errors":    {Refuse(document.Errors{fault, fault}), Refused, fault.Error() + "\n" + fault.Error() + "\n"},
		"with a character": {Fail(errors.New("\x1b[2Ja\x07b\nc")), Failed, "sluice: ab\nc\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			require.Equal(t, c.code, Report(&out, at, c.err))
			require.Equal(t, c.says, out.String())
		})
	}
}

func TestExitOf(t *testing.T) {
	require.NoError(t, ExitOf(nil))
	for err, code := range map[error]int{
		coordinator.ErrRunNotFound:  Refused,
		coordinator.ErrStepNotFound: Refused,
		find.ErrAmbiguous:           Refused,
		api.ErrBadRequest:           Refused,
		api.ErrNoJournal:            Refused,
		coordinator.ErrRefused:      Refused,
		coordinator.ErrFinished:     Failed,
		journal.ErrLocked:           Failed,
		journal.ErrDamaged:          Failed,
		context.Canceled:            Interrupted,
		context.DeadlineExceeded:    Failed,
		errors.New("anything else"): Failed,
	} {
		exit, ok := errors.AsType[*Exit](ExitOf(fmt.Errorf("run r: %w", err)))
		require.True(t, ok)
		require.Equal(t, code, exit.Code, "%v", err)
		if code == Interrupted {
			require.NoError(t, exit.Err, "nothing is printed for Ctrl-C")
			continue
		}
		require.ErrorIs(t, exit, err)
		require.Equal(t, errors.Is(err, journal.ErrDamaged), bytes.Contains([]byte(exit.Error()), []byte("sluice doctor")))
	}
}

// TestATokenIsNamedByItsVariable: the server tells programs which header to send, and the reader of the command sends none.
func TestATokenIsNamedByItsVariable(t *testing.T) {
	err := ExitOf(&api.Error{Code: "unauthorized", Message: "send a token that is valid: Authorization: Bearer TOKEN"})
	require.EqualError(t, err, "the server takes no request without a valid token, and $SLUICE_TOKEN has none: sluice token create prints one")
	exit, _ := errors.AsType[*Exit](err)
	require.Equal(t, Failed, exit.Code)
}
