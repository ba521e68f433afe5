package scenario

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/shadow"
	"github.com/sluiceflow/sluice/template/machine"
)

// recorded yields the runs of all scenarios, those of worlds left out.
func recorded(t *testing.T, yield func(name string, track *track)) {
	all, err := Load("../../testdata/scenarios")
	require.NoError(t, err)
	for _, s := range all {
		g := newExecution(s, Options{}, program.NewLibrary())
		g.perform()
		for _, track := range g.tracks {
			if routing := track.program.Plan.Workflow.Routing; len(track.journal) > 0 && (routing == nil || routing.Kind() != machine.Kind) {
				yield(s.Name+", run "+track.path, track)
			}
		}
	}
}

// An equal workflow has the same shadow, whatever a run was about.
func TestAnEqualWorkflowGoesTheSameWay(t *testing.T) {
	runs := 0
	recorded(t, func(name string, track *track) {
		runs++
		p := track.program.Plan
		s, err := shadow.New(p, p, track.journal[0].Detail.Start, func(root *reactive.Root) decide.Host { return track })
		require.NoError(t, err, name)
		for i := range track.journal {
			s.Add(&track.journal[i])
		}
		report, err := s.Report()
		require.NoError(t, err, name)
		for _, d := range report.Differences {
			t.Errorf("%s: %s: %s", name, d.Kind, d.String())
		}
		require.Equal(t, report.Status, report.Shadow, name)
		require.EqualValues(t, len(track.journal), report.Events, name)
	})
	require.Greater(t, runs, 300)
}
