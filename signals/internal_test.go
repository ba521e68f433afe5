package signals

import "testing"

// Marks are the low half of a run's serial. Once serials need the high half, an equal mark may be of an earlier run.
func TestEdgesStayExactWhenSerialsOutgrowTheMarks(t *testing.T) {
	g := New()
	g.serial = 1<<32 - 3
	switching, x, y := NewSignal(g, 0), NewSignal(g, 0), NewSignal(g, 0)
	sum := 0
	if _, err := g.Effect(func(r Reader) error {
		sum = 0
		for i := range 4 {
			if (switching.Get(r)+i)%2 == 0 {
				sum += x.Get(r)
			} else {
				sum += y.Get(r)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		y.mark = uint32(g.serial + 1) // as if it had been read exactly 2^32 runs ago
		_ = switching.Set(i + 1)
		_ = x.Set(i)
		_ = y.Set(10 * i)
		if sum != 2*i+20*i {
			t.Fatalf("round %d: sum %d, want %d", i, sum, 22*i)
		}
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
	}
}
