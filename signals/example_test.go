package signals_test

import (
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/signals"
)

func Example() {
	g := signals.New()
	price, amount := signals.NewSignal(g, 3), signals.NewSignal(g, 10)
	total := signals.NewComputed(g, func(r signals.Reader) (int, error) {
		return price.Get(r) * amount.Get(r), nil
	})
	_, _ = g.Effect(func(r signals.Reader) error {
		v, err := total.Get(r)
		fmt.Println("total", v)
		return err
	})
	_ = price.Set(4)
	_ = g.Batch(func() error {
		_ = price.Set(8)
		return amount.Set(5) // the total is the same: nothing to do
	})
	// Output:
	// total 30
	// total 40
}

func ExampleGraph_Batch() {
	g := signals.New()
	from, to := signals.NewSignal(g, 100), signals.NewSignal(g, 0)
	_, _ = g.Effect(func(r signals.Reader) error {
		fmt.Println(from.Get(r), to.Get(r))
		return nil
	})
	move := func(n int) error {
		return g.Batch(func() error {
			_ = to.Set(to.Peek() + n)
			_ = from.Set(from.Peek() - n)
			if from.Peek() < 0 {
				return errors.New("too much")
			}
			return nil
		})
	}
	fmt.Println(move(30))
	fmt.Println(move(300))
	// Output:
	// 100 0
	// 70 30
	// <nil>
	// too much
}

func ExampleScope_Effect() {
	g := signals.New()
	channel := signals.NewSignal(g, "news")
	scope, _ := g.Scope(func(s *signals.Scope) error {
		_, err := s.Effect(func(r signals.Reader) error {
			name := channel.Get(r)
			fmt.Println("open", name)
			r.OnCleanup(func() { fmt.Println("close", name) })
			return nil
		})
		return err
	})
	_ = channel.Set("sport")
	_ = scope.Dispose()
	_ = channel.Set("music")
	// Output:
	// open news
	// close news
	// open sport
	// close sport
}

func ExampleComputed() {
	g := signals.New()
	divisor := signals.NewSignal(g, 0)
	quotient := signals.NewComputed(g, func(r signals.Reader) (int, error) {
		return 100 / divisor.Get(r), nil // panics at 0, which becomes the value's error
	})
	fmt.Println(quotient.Peek())
	_ = divisor.Set(7)
	fmt.Println(quotient.Peek())
	// Output:
	// 0 signals: panic in callback: runtime error: integer divide by zero
	// 14 <nil>
}

func ExampleReader_Untracked() {
	g := signals.New()
	query, limit := signals.NewSignal(g, "a"), signals.NewSignal(g, 10)
	_, _ = g.Effect(func(r signals.Reader) error {
		fmt.Println(query.Get(r), limit.Get(r.Untracked()))
		return nil
	})
	_ = limit.Set(20) // not a reason to search again
	_ = query.Set("b")
	// Output:
	// a 10
	// b 20
}

func ExampleAll() {
	g := signals.New()
	parts := []*signals.Signal[bool]{signals.NewSignal(g, false), signals.NewSignal(g, false), signals.NewSignal(g, false)}
	ready := signals.All(g, parts[0], parts[1], parts[2])
	_, _ = g.Effect(func(r signals.Reader) error {
		v, err := ready.Get(r)
		fmt.Println("ready:", v)
		return err
	})
	for _, part := range parts {
		_ = part.Set(true) // a constant amount of work each, however many parts there are
	}
	// Output:
	// ready: false
	// ready: true
}

func ExampleNewFold() {
	g := signals.New()
	x, y := signals.NewSignal(g, 1), signals.NewSignal(g, 2)
	plus := func(sum, v int) int { return sum + v }
	minus := func(sum, v int) int { return sum - v }
	sum := signals.NewFold(g, 0, plus, minus, x, y)
	_ = x.Set(40)
	fmt.Println(sum.Peek())
	// Output: 42 <nil>
}

func ExampleGraph_Post() {
	g := signals.New()
	s := signals.NewSignal(g, 0)
	_, _ = g.Effect(func(r signals.Reader) error {
		fmt.Println("sum", s.Get(r))
		return nil
	})
	done := make(chan struct{})
	go func() { // any goroutine may post, only the owner drains
		defer close(done)
		g.Post(func() { _ = s.Update(func(v int) int { return v + 1 }) })
		g.Post(func() { _ = s.Update(func(v int) int { return v + 2 }) })
	}()
	<-done
	<-g.Wake()
	if err := g.Drain(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// sum 0
	// sum 3
}

func ExampleBank() {
	// Rows 0 and 1 feed row 2 with edges of class 0. Output 1 means done; gate 0 counts inputs that are not done.
	var table [1][signals.Outputs]uint8
	table[0][0] = 1 << 0
	w, err := signals.NewWiring([]int32{0, 1, 2, 2}, []int32{2, 2}, []uint8{0, 0}, []int32{0, 0, 1}, table[:])
	if err != nil {
		fmt.Println(err)
		return
	}
	b := signals.NewBank(w, func(node int32) { fmt.Println("every input of", node, "is done") })
	b.Show(0, 1)
	b.Drain()
	b.Show(1, 1)
	b.Drain()
	// Output: every input of 2 is done
}
