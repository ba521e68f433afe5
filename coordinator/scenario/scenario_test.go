package scenario_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/scenario"
)

const folder = "../../testdata/scenarios/"

func TestScenarios(t *testing.T) {
	scenario.Run(t, folder+"workflows", folder+"calls", folder+"playbooks", folder+"worlds")
}

// The test uses twenty seeds for the order of answers of one instant, or two with -short, as under the race detector.
func TestScenariosInAnyOrder(t *testing.T) {
	seeds := int64(20)
	if testing.Short() {
		seeds = 2
	}
	all, err := scenario.Load(folder+"workflows", folder+"calls", folder+"playbooks", folder+"worlds")
	require.NoError(t, err)
	require.Greater(t, len(all), 300)
	for _, s := range all {
		for seed := int64(1); seed <= seeds; seed++ {
			if r := s.Run(scenario.Options{Seed: seed, Crash: true}); !r.Passed {
				t.Errorf("seed %d\n%s", seed, r)
			}
		}
	}
}

// recorder is a T that counts failures.
type recorder struct{ failed int }

func (r *recorder) Helper()                              {}
func (r *recorder) Errorf(string, ...any)                { r.failed++ }
func (r *recorder) Fatalf(string, ...any)                { r.failed++ }
func (r *recorder) Run(_ string, f func(*recorder)) bool { f(r); return r.failed == 0 }

func TestRunFailsTheTestOfAScenarioThatFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "test.yaml")
	require.NoError(t, os.WriteFile(file, []byte(base+"expect: {run: failed}\n"), 0o600))
	r := &recorder{}
	scenario.Run(r, file)
	require.Equal(t, 2, r.failed, "without and with crashes")
	r = &recorder{}
	scenario.Run(r, folder+"workflows/needs.yaml")
	require.Zero(t, r.failed)
	scenario.Run(r, "missing.yaml")
	require.Equal(t, 1, r.failed)
}
