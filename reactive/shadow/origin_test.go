package shadow

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

func TestEveryTypeOfEventHasAnOrigin(t *testing.T) {
	for n := range origins {
		typ := journal.Type(n)
		isType := !strings.HasPrefix(typ.String(), "type(")
		require.Equal(t, isType, origins[n] != unknown, "%s: where do these events come from?", typ)
	}
}
