// Package unexplained trusts a function without a reason.
package unexplained

import (
	"os"

	"helper"

	"github.com/sluiceflow/sluice/template/flow/machine"
)

//sluice:pure
func folder() string { return os.TempDir() }

var _ = machine.Define("trusted", "1", func(a *helper.Act, s *helper.State, e helper.Event) (*helper.State, error) {
	return &helper.State{Text: folder()}, nil
})
