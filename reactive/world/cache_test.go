package world_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

const textsWorld = `
kind: World
name: texts
types: {Put: {record: {id: text, text: text}}}
machines:
  m: {key: text, state: {record: {text: text}}, event: [Put], emits: [], lifecycle: entity, rules: [{event: Put, set: {text: "{{ event.text }}"}}]}
routing: {subscriptions: [{event: Put, machine: m, key_field: id}]}
`

// TestACacheIsBounded: cells that may leave memory stay within the bounds of their number and of the bytes of their states; the last
// changed ones stay longest. Reading other cells does not exceed the bounds for long, and the bounds do not affect the journal.
func TestACacheIsBounded(t *testing.T) {
	const cells = 40
	long := strings.Repeat("x", 1_000)
	for _, c := range []struct {
		cache    world.Cache
		inMemory int
	}{
		{world.Cache{}, cells},
		{world.Cache{Cells: 7}, 7},
		{world.Cache{Cells: -1}, 0},
		{world.Cache{Bytes: 5_500}, 5},
		{world.Cache{Cells: 3, Bytes: 5_500}, 3},
		{world.Cache{Bytes: -1}, 0},
	} {
		t.Run(fmt.Sprint(c.cache), func(t *testing.T) {
			d := &driver{t: t, plan: planOf(t, textsWorld), now: epoch, store: store{content: map[journal.Hash][]byte{}}}
			d.cache = c.cache
			d.use(d.empty())
			require.NoError(t, d.take(decide.Started("r", d.plan, nil, decide.Limits{})))
			for i := range cells {
				require.NoError(t, d.send("Put", map[string]any{"id": fmt.Sprint(i), "text": long}, ""))
			}
			require.Equal(t, cells, world.InMemory(d.world()))
			e := d.snapshot()
			require.Equal(t, c.inMemory, world.InMemory(d.world()))
			d.fetched = 0
			if c.inMemory > 0 {
				_, _ = d.world().Cell(fmt.Sprintf("m[%d]", cells-1))
				require.Zero(t, d.fetched, "the one that has changed last is in memory")
			}
			root, err := d.restored(&e)
			require.NoError(t, err)
			for range 3 {
				for i := range cells {
					state, ok := world.Of(root).Cell(fmt.Sprintf("m[%d]", i))
					require.True(t, ok)
					require.Equal(t, map[string]any{"text": long}, state.State)
					require.LessOrEqual(t, world.InMemory(world.Of(root)), 2*c.inMemory+1)
				}
			}
			require.Equal(t, d.digest(d.root), d.digest(root))
		})
	}
}
