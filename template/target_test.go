package template_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
)

func TestOneProviderOfAnOperation(t *testing.T) {
	target := &template.Target{Resolve: template.ResolveTaskType}
	w := &template.Workflow{Name: "w", Steps: []template.Node{
		&template.Step{Operation: "ask", ID: "a", Target: target},
		&template.Step{Operation: "tell", ID: "b", Target: target},
		&template.Step{Operation: "tell", ID: "c", Target: &template.Target{Resolve: template.ResolveTaskType, CapabilityID: "talk"}},
	}}
	checked, err := template.Check(w, template.Known{Lenient: true})
	require.NoError(t, err)
	var capabilities []string
	for _, it := range checked.Items {
		capabilities = append(capabilities, it.Node.(*template.Step).Target.CapabilityID)
	}
	require.Equal(t, []string{"ask", "tell", "talk"}, capabilities)
	require.Empty(t, target.CapabilityID, "a target belongs to whoever made it")
	requireRoundTrip(t, w)

	steps := w.Document().(map[string]any)["steps"].([]any)
	require.Equal(t, map[string]any{"resolve": "task_type"}, steps[0].(map[string]any)["target"], "a default is not written")
}
