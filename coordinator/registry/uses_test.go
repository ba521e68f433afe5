package registry

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A definition that a start treats as stored stays as long as the start is under way, and through a sweep that began meanwhile.
func TestADefinitionInUseIsNotSwept(t *testing.T) {
	l := &Registry{}
	done := l.Use()
	l.uses.note("a")
	l.uses.keep("a")
	used, end := l.Watch()
	require.True(t, used("def/a"), "the start is under way")
	done()
	done()
	require.True(t, used("def/a"), "its event may be behind the mark")
	require.False(t, used("def/b"))
	end()
	used, end = l.Watch()
	defer end()
	require.True(t, l.uses.stored["a"])
	require.False(t, used("def/a"), "the event is marked")
	require.False(t, l.uses.stored["a"], "it is taken for deleted")
	done = l.Use()
	defer done()
	require.False(t, l.uses.note("a"), "a start stores it again")
	require.True(t, used("def/a"))
}

// If there are always starts under way, used definitions are still forgotten, but not before the starts that used them have ended.
func TestWhatIsUsedIsForgottenInTurn(t *testing.T) {
	l := &Registry{}
	running := l.Use()
	for i := range 20 * usedMany {
		next := l.Use()
		hash := fmt.Sprint(i)
		l.uses.note(hash)
		used, end := l.Watch()
		require.True(t, used("def/"+hash))
		end()
		running()
		running = next
		require.LessOrEqual(t, len(l.uses.used[0])+len(l.uses.used[1]), 2*usedMany+2)
	}
	running()
	require.Empty(t, l.uses.used[0])
	require.Empty(t, l.uses.used[1])
}
