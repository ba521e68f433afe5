package marks

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachStepIsToldOnceUntilItChangesAgain(t *testing.T) {
	var m Marks
	require.Empty(t, m.Touched())
	for _, step := range []int{2, 0, 2} {
		m.Touch(step)
	}
	require.Equal(t, []int{2, 0}, m.Touched())
	require.Empty(t, m.Touched())
	m.Touch(2)
	require.Equal(t, []int{2}, m.Touched())
	require.Zero(t, m.Revision())
	m.Written(7)
	require.Equal(t, uint64(7), m.Revision())
}
