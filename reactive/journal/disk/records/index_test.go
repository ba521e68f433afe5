package records

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Small domains, so that two heads often have the same keys.
func anyHead(t *rapid.T) journal.Head {
	text := rapid.SampledFrom([]string{"", "a", "b"})
	number := rapid.Int64Range(0, 1)
	h := journal.Head{
		Run: rapid.SampledFrom([]string{"r", "r/s#1"}).Draw(t, "run"), Name: text.Draw(t, "name"),
		Status:  rapid.SampledFrom([]string{"waiting", "running"}).Draw(t, "status"),
		Started: number.Draw(t, "started"), Due: number.Draw(t, "due"), Open: rapid.Bool().Draw(t, "open"),
		Updated: number.Draw(t, "updated"), Done: int(number.Draw(t, "done")), Code: text.Draw(t, "code"),
		Labels: rapid.MapOfN(text, text, 0, 2).Draw(t, "labels"),
	}
	for _, kind := range rapid.SliceOfN(text, 0, 3).Draw(t, "kinds") {
		h.Waits = append(h.Waits, journal.Wait{Kind: kind, Until: number.Draw(t, "until")})
	}
	return h
}

// The sum, which is computed from the head, differs if and only if the keys differ.
func TestTheSumOfAHeadIsThatOfItsKeys(t *testing.T) {
	same, other := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyHead(t), anyHead(t)
		if rapid.Bool().Draw(t, "near") {
			b = a
			b.Updated, b.Done, b.Code = 7, 7, "z"
			switch rapid.IntRange(0, 4).Draw(t, "field") {
			case 0:
				b.Due ^= 1
			case 1:
				b.Waits = slices.Repeat(b.Waits, 2)
			case 2:
				b.Open = !b.Open
			}
		}
		keys := func(h *journal.Head) []string {
			var list []string
			for key := range IndexKeys(nil).Append(h).all {
				list = append(list, string(key))
			}
			slices.Sort(list)
			return list
		}
		equal := slices.Equal(keys(&a), keys(&b))
		if equal {
			same++
		} else {
			other++
		}
		if sums := SumOf(&a) == SumOf(&b); sums && !equal || !sums && equal && a.Open == b.Open {
			t.Fatalf("%v\n%v\nkeys are equal: %v, sums: %v", a, b, equal, sums)
		}
	})
	require.Positive(t, same)
	require.Positive(t, other)
}
