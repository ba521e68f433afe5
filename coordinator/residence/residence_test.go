package residence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/residence"
)

func TestTheIdlestLeaveFirst(t *testing.T) {
	r := residence.New(2)
	var asked []int
	places := make([]residence.Place, 5)
	rest := func(i int) { r.Rest(&places[i], func() { asked = append(asked, i) }) }
	r.Count(1)
	rest(0)
	r.Count(2)
	rest(1)
	require.Empty(t, asked, "two have room")
	require.False(t, r.Rise(&places[0]))
	rest(0)
	r.Count(3)
	require.Equal(t, []int{1}, asked, "it has rested longest")
	r.Count(3)
	require.Equal(t, []int{1}, asked, "it is about to leave")
	require.True(t, r.Rise(&places[1]))
	r.Count(3)
	require.Equal(t, []int{1}, asked, "it still leaves")
	r.Stay(&places[1])
	require.False(t, r.Rise(&places[1]), "a run is asked once")
	require.Equal(t, []int{1, 0}, asked, "the first stays")
	require.True(t, r.Rise(&places[0]))
	r.Left(&places[0], 2)
	r.Stay(&places[0])
	r.Count(4)
	require.Equal(t, []int{1, 0}, asked, "none rests")
	rest(2)
	rest(3)
	require.Equal(t, []int{1, 0, 2, 3}, asked, "whoever rests while there are too many leaves")
}

func TestWithoutABoundAllStay(t *testing.T) {
	r := residence.New(-1)
	var p residence.Place
	r.Rest(&p, func() { t.Fatal("asked to leave") })
	r.Count(1 << 30)
	require.False(t, r.Rise(&p))
}
