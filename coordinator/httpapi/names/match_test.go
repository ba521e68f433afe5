package names_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi/names"
)

func TestMatch(t *testing.T) {
	for _, headers := range [][]string{nil, {""}, {"*"}, {`"5"`}, {`"4", "5"`}, {`"5","6"`}, {` "5" `}, {`"4"`, `"5"`}, {`W/"5", *`}} {
		require.True(t, names.Match(headers, `"5"`), headers)
	}
	for _, headers := range [][]string{{`"4"`}, {"5"}, {`W/"5"`}, {`"4", "6"`}, {`"55"`}} {
		require.False(t, names.Match(headers, `"5"`), headers)
	}
}
