package catalog

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/secret"
)

// TestEachBindingIsJudged: a binding that a later version adds is refused until it is listed here and in bindingUses.
func TestEachBindingIsJudged(t *testing.T) {
	needs := map[string]string{"Command": Command, "HTTP": "", "Sleep": "", "Wait": "", "Workflow": "", "Value": "", "Fail": ""}
	typ := reflect.TypeFor[template.Binding]()
	for i := range typ.NumField() {
		name := typ.Field(i).Name
		if typ.Field(i).Type == reflect.TypeFor[document.Pos]() {
			continue
		}
		b := new(template.Binding)
		reflect.ValueOf(b).Elem().Field(i).Set(reflect.New(typ.Field(i).Type.Elem()))
		need, listed := needs[name]
		w := &template.Workflow{Name: "w", Operations: map[string]template.Binding{"op": *b}}
		require.True(t, listed, "binding %s: what does a document from elsewhere need to use it?", name)
		for _, kind := range append([]string{""}, Kinds...) {
			err := Allow{kind}.workflow(w, nil)
			if need == "" || need == kind {
				require.NoError(t, err, "%s with %q", name, kind)
			} else {
				require.ErrorIs(t, err, ErrNotAllowed, "%s with %q", name, kind)
				require.ErrorContains(t, err, "--allow "+need)
			}
		}
	}
	byFile := &template.Workflow{Name: "w", Operations: map[string]template.Binding{"op": {Workflow: &template.Child{Path: "child.yaml"}}}}
	require.ErrorContains(t, Allow{Command}.workflow(byFile, nil), "--allow path")
	require.NoError(t, Allow{Path}.workflow(byFile, nil))
	require.NoError(t, Allow{}.workflow(byFile, func(string) bool { return true }))
	require.ErrorIs(t, Allow(Kinds).workflow(&template.Workflow{Operations: map[string]template.Binding{"op": {}}}, nil), ErrNotAllowed)
}

func TestEachSourceOfSecretsIsJudged(t *testing.T) {
	require.Empty(t, secretUses(secret.HTTP))
	require.Equal(t, Env, secretUses(secret.Env))
	require.Equal(t, File, secretUses(secret.File))
	require.False(t, slices.Contains(Kinds, secretUses("vault")))
}
