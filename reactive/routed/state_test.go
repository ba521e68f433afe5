package routed_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/routed"
)

// Arcs that tokens took stay taken in later runs, and a returned Taken does not change.
func TestArcsStayTaken(t *testing.T) {
	var a routed.Arcs
	for _, arc := range []int{4, 2, 6} {
		a.Put(arc)
	}
	told := a.Taken
	for _, arc := range []int{3, 2, 0} {
		a.Put(arc)
	}
	a.Ended("s@2", 17, []int{1}, nil)
	require.Equal(t, routed.Arcs{Run: "s@2", Seq: 17, Arcs: []int{1}, Taken: []int{0, 2, 3, 4, 6}}, a)
	require.Equal(t, []int{2, 4, 6}, told)
}
