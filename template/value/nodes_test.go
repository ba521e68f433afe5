package value_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/value"
)

func TestNodesAreCountedBeforeAndAfter(t *testing.T) {
	for text, nodes := range map[string]int{
		`null`: 1, ` -1.5e3 `: 1, `"a,[{:\"\\"`: 1, `[]`: 1, `[[],[]]`: 3, `[1, true ,"x"]`: 4, `{}`: 1, `{"a":1}`: 3,
		`{"a" : {"b": [1,2]}, "c":null}`: 9, "[\n1\t,2\r\n]": 3,
	} {
		require.Equal(t, nodes, value.TextNodes([]byte(text)), text)
		v, err := value.ParseJSON([]byte(text))
		require.NoError(t, err)
		n, err := value.Nodes(v, 100)
		require.NoError(t, err)
		require.Equal(t, nodes, n, text)
	}
	n, err := value.Nodes(sample(100), 10)
	require.NoError(t, err)
	require.Greater(t, n, 10)
	require.Less(t, n, 20, "counting stops")
	n, err = value.Nodes([]int{1, 2}, 10)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.LessOrEqual(t, value.TextNodes([]byte(`"\`)), 2, "what is no JSON ends, too")
}

// TestATextOfTooManyNodesIsRefusedBeforeAnythingIsMade: ten mebibytes of [[],[],… would take memory for 130.
func TestATextOfTooManyNodesIsRefusedBeforeAnythingIsMade(t *testing.T) {
	text := []byte("[" + strings.Repeat("[],", value.NodesMax) + "0]")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := value.ParseJSON(text)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, value.ErrTooLarge)
	require.ErrorContains(t, err, "2097154 lists, objects, keys and scalars, at most 2097152 are allowed")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	_, err = value.ParseJSON([]byte("[" + strings.Repeat("0,", value.NodesMax-2) + "0]"))
	require.NoError(t, err)
}
