package machine_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// Every world of the scenarios loads, unless the scenario expects a refusal; a loaded world is equal to the one that is read
// from its document.
func TestWorldsOfTheScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.yaml")
	require.NoError(t, err)
	loaded, refused := 0, 0
	check := func(t *testing.T, text []byte, invalid string) {
		checked, err := machine.Load("w.yaml", text, template.Known{Lenient: true})
		if invalid != "" {
			refused++
			require.ErrorContains(t, err, invalid)
			require.NotContains(t, err.Error(), "\n", "one fault")
			return
		}
		loaded++
		require.NoError(t, err)
		requireRoundTrip(t, checked)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.HasSuffix(file, ".world.yaml") {
			t.Run(file, func(t *testing.T) { check(t, text, "") })
			continue
		}
		nodes, err := document.Parse(file, text, document.Limits{})
		require.NoError(t, err)
		for _, n := range nodes {
			name, _ := n.Get("name").Text()
			invalid, inner := "", n.Get("workflow")
			if e := n.Get("expect").Get("invalid"); e != nil {
				invalid, _ = e.Text()
			}
			if inner.Kind != document.Mapping {
				continue
			}
			t.Run(name, func(t *testing.T) {
				text, err := json.Marshal(inner.Value())
				require.NoError(t, err)
				check(t, text, invalid)
			})
		}
	}
	require.Greater(t, loaded, 20)
	require.Equal(t, 8, refused)
}

// requireRoundTrip checks that the document of a world is read as the same world, and that the tree has the calls of its
// effects.
func requireRoundTrip(t *testing.T, checked *template.Checked) {
	world, ok := machine.Of(checked.Workflow)
	require.True(t, ok)
	text, err := checked.Workflow.MarshalJSON()
	require.NoError(t, err)
	again, err := machine.Load("again.json", text, template.Known{Lenient: true})
	require.NoError(t, err, "%s", text)
	text2, err := again.Workflow.MarshalJSON()
	require.NoError(t, err)
	require.JSONEq(t, string(text), string(text2))
	hash, err := checked.Workflow.Hash()
	require.NoError(t, err)
	hash2, err := again.Workflow.Hash()
	require.NoError(t, err)
	require.Equal(t, hash, hash2)

	p, err := plan.Compile(checked)
	require.NoError(t, err)
	other, _ := machine.Of(again.Workflow)
	require.Len(t, p.Nodes, len(world.Effects))
	for i, e := range world.Effects {
		require.Equal(t, i, e.Site)
		require.Equal(t, machine.Escape(e.Name), p.Nodes[i].Key)
		require.Equal(t, e.Hash, other.Effects[i].Hash)
	}
	require.Len(t, other.Machines, len(world.Machines))
	for i, m := range world.Machines {
		require.Equal(t, m.Hash, other.Machines[i].Hash)
		require.Len(t, other.Machines[i].Rules, len(m.Rules))
	}
}

// TestCanonicalVectors compares encodings, hashes, keys and intents with those that an independent program computed.
func TestCanonicalVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/canonical-vectors.json")
	require.NoError(t, err)
	var vectors struct {
		Values []struct {
			JSON value.Raw
			CBOR string `json:"cbor_hex"`
			Hash string
		}
		Keys []struct {
			Key   value.Raw
			Bytes string `json:"key_bytes_hex"`
			Hash  string `json:"key_hash"`
		}
		Intents []struct {
			Label       string
			Machine     string    `json:"origin_workflow"`
			MachineHash string    `json:"origin_workflow_hash"`
			Key         value.Raw `json:"origin_instance_key"`
			Effect      string
			EffectHash  string `json:"effect_hash"`
			Requested   string `json:"requested_idempotency_key"`
			Index       int    `json:"effect_index"`
			Seq         uint64 `json:"emitted_at_seq"`
			Executor    string `json:"executor_module"`
			ExecHash    string `json:"executor_module_hash"`
			Entrypoint  string `json:"executor_entrypoint"`
			Params      value.Raw
			Idempotency string `json:"idempotency_hex"`
			Intent      string
		}
	}
	require.NoError(t, json.NewDecoder(bytes.NewReader(text)).Decode(&vectors))
	require.NotEmpty(t, vectors.Values)
	for _, v := range vectors.Values {
		tagged, err := schema.Tagged(v.JSON)
		require.NoError(t, err)
		require.Equal(t, v.CBOR, hex.EncodeToString(tagged))
		hash, err := schema.HashTagged(v.JSON)
		require.NoError(t, err)
		require.Equal(t, v.Hash, hash)
	}
	require.NotEmpty(t, vectors.Keys)
	for _, k := range vectors.Keys {
		tagged, err := schema.Tagged(k.Key)
		require.NoError(t, err)
		require.Equal(t, k.Bytes, hex.EncodeToString(tagged))
		hash, err := schema.HashTagged(k.Key)
		require.NoError(t, err)
		require.Equal(t, "sha256:"+k.Hash, hash)
	}
	require.NotEmpty(t, vectors.Intents)
	for _, i := range vectors.Intents {
		key, err := schema.Tagged(i.Key)
		require.NoError(t, err)
		q := machine.Request{
			Machine: i.Machine, MachineHash: i.MachineHash, Key: key, Effect: i.Effect, EffectHash: i.EffectHash, Requested: i.Requested,
			Index: i.Index, Seq: i.Seq, Params: i.Params, Executor: i.Executor, ExecutorHash: i.ExecHash, Entrypoint: i.Entrypoint,
		}
		idempotency, intent, err := q.Identities()
		require.NoError(t, err)
		require.Equal(t, i.Idempotency, hex.EncodeToString(idempotency[:]), i.Label)
		require.Equal(t, i.Intent, intent, i.Label)
	}
}
