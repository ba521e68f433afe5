package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// localVerbs holds the verbs that work only on a folder of the same machine, each with the reason.
var localVerbs = map[string]string{
	"sluice serve":        "it is the server",
	"sluice token create": "tokens are beside the journal, and no request makes one",
	"sluice token list":   "the same",
	"sluice token revoke": "the same",
}

func TestEveryVerbWithDataTakesAServer(t *testing.T) {
	tried := 0
	for _, cmd := range verbs(newRoot()) {
		flags := cmd.Flags()
		if flags.Lookup("data") == nil {
			continue
		}
		tried++
		require.Equal(t, localVerbs[cmd.CommandPath()] == "", flags.Lookup("server") != nil, cmd.CommandPath())
	}
	require.Greater(t, tried, 20)
}

func TestAServerThatIsNoURLIsNoFolder(t *testing.T) {
	t.Setenv("SLUICE_DATA", "")
	t.Setenv("SLUICE_SERVER", "127.0.0.1:8080")
	for _, args := range [][]string{
		{"runs"}, {"runs", "show", "a"}, {"move", "a", "--workflow", "b"}, {"run", "a.yaml"}, {"start", "a"}, {"diff", "a", "b"}, {"graph", "a"}, {"doctor"},
	} {
		root := newRoot()
		root.SetArgs(args)
		root.SetOut(&bytes.Buffer{})
		root.SetErr(&bytes.Buffer{})
		require.EqualError(t, root.Execute(), `$SLUICE_SERVER is "127.0.0.1:8080", which is no URL of a server: is it http://127.0.0.1:8080?`, args)
	}
	root := newRoot()
	root.SetArgs([]string{"runs", "--data", t.TempDir()})
	root.SetOut(&bytes.Buffer{})
	root.SetErr(&bytes.Buffer{})
	require.ErrorContains(t, root.Execute(), "there is no journal in ", "another folder is named")
}
