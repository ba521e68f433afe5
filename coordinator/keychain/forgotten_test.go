package keychain

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// Unreferenced rings of runs take no memory, and forgetting an old ring of a run does not remove its new ring.
func TestUnusedRingsAreForgotten(t *testing.T) {
	rings := NewRings(0, func(context.Context, string) (Begun, error) { return Begun{}, errors.New("none") })
	for i := range 100 {
		rings.Keep(fmt.Sprint(i), &Ring{})
		rings.Keep("used", &Ring{})
	}
	used := &Ring{}
	rings.Keep("used", used)
	left := func() int {
		rings.mu.Lock()
		defer rings.mu.Unlock()
		return len(rings.live)
	}
	for tries := 0; left() > 1 && tries < 1000; tries++ {
		runtime.GC()
	}
	require.Equal(t, 1, left())
	require.Same(t, used, rings.of("used"))
}
