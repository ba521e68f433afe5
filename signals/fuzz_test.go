package signals_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/signals"
)

// A program is bytes: the first build a graph, the rest are operations on it. world runs the program on the library and
// compares every value with want, which recomputes it from the values of the signals.
type world struct {
	t    failer
	code []byte

	g       *signals.Graph
	values  []int // of the signals
	signals []*signals.Signal[int]
	cells   []*cell
	probes  []*probe

	clock int // counts the runs
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// cell is a derived node: a computed or a fold over inputs, which are signals (below len(signals)) or earlier cells.
type cell struct {
	kind   byte
	inputs []int
	node   signals.Readable[int]
	peek   func() (int, error)
	get    func(r signals.Reader) (int, error)
	runs   int // since the operation began
	last   int // clock of the last run
}

// probe is an effect that records the values of one node.
type probe struct {
	target int
	effect *signals.Effect
	runs   int
	last   int
	value  int
	err    error
	inner  bool // creates an inner effect in every run
	live   int  // inner effects that have run and not been cleaned up
}

var errOdd = errors.New("odd")

// next takes a number below n from the program; 0 at its end.
func (w *world) next(n int) int {
	if len(w.code) == 0 {
		return 0
	}
	b := w.code[0]
	w.code = w.code[1:]
	return int(b) % n
}

const kinds = 6

// derive computes the value of any cell; get reads the input with the given index.
func derive(kind byte, inputs []int, get func(int) (int, error)) (int, error) {
	switch kind {
	case 0, 1: // sum of all; fold
		sum := 0
		for _, in := range inputs {
			v, err := get(in)
			if err != nil {
				return 0, err
			}
			sum += v
		}
		return sum, nil
	case 2: // the first chooses which of the others is read
		v, err := get(inputs[0])
		if err != nil || len(inputs) == 1 {
			return v, err
		}
		return get(inputs[1+(v&0xff)%(len(inputs)-1)])
	case 3: // changes seldom
		v, err := get(inputs[0])
		return v / 4, err
	case 4: // fails at times
		v, err := get(inputs[0])
		if err == nil && v%3 == 1 {
			err = errOdd
		}
		return v, err
	default: // recovers from failures, and reads the same input again
		sum := 0
		for _, in := range slices.Concat(inputs, inputs) {
			if v, err := get(in); err == nil {
				sum += v
			}
		}
		return sum % 5, nil
	}
}

func (w *world) read(r signals.Reader, i int) (int, error) {
	if i < len(w.signals) {
		return w.signals[i].Get(r), nil
	}
	return w.cells[i-len(w.signals)].get(r)
}

func (w *world) input(i int) signals.Readable[int] {
	if i < len(w.signals) {
		return w.signals[i]
	}
	return w.cells[i-len(w.signals)].node
}

// want recomputes the nodes up to i from the signals, in order of their numbers: inputs come first.
func (w *world) want(i int) (int, error) {
	type outcome struct {
		value int
		err   error
	}
	all := make([]outcome, i+1)
	for k := range all {
		if k < len(w.signals) {
			all[k].value = w.values[k]
			continue
		}
		c := w.cells[k-len(w.signals)]
		all[k].value, all[k].err = derive(c.kind, c.inputs, func(in int) (int, error) { return all[in].value, all[in].err })
	}
	return all[i].value, all[i].err
}

func (w *world) build() {
	w.g = signals.New()
	for range 1 + w.next(4) {
		v := w.next(8)
		w.values = append(w.values, v)
		w.signals = append(w.signals, signals.NewSignal(w.g, v))
	}
	for range w.next(14) {
		c := &cell{kind: byte(w.next(kinds))}
		for range 1 + w.next(4) {
			c.inputs = append(c.inputs, w.next(len(w.signals)+len(w.cells)))
		}
		w.makeCell(c)
		w.cells = append(w.cells, c)
	}
}

func (w *world) makeCell(c *cell) {
	if c.kind == 1 {
		var inputs []signals.Readable[int]
		for _, in := range c.inputs {
			inputs = append(inputs, w.input(in))
		}
		plus := func(acc, v int) int { return acc + v }
		minus := func(acc, v int) int { return acc - v }
		f := signals.NewFold(w.g, 0, plus, minus, inputs...)
		c.node, c.peek, c.get = f, f.Peek, f.Get
		return
	}
	n := signals.NewComputed(w.g, func(r signals.Reader) (int, error) {
		c.runs++
		v, err := derive(c.kind, c.inputs, func(i int) (int, error) { return w.read(r, i) })
		w.clock++
		c.last = w.clock
		return v, err
	})
	c.node, c.peek, c.get = n, n.Peek, n.Get
}

func (w *world) makeProbe(target int, inner bool) {
	p := &probe{target: target, inner: inner}
	p.effect, _ = w.g.Effect(func(r signals.Reader) error {
		p.runs++
		p.value, p.err = w.read(r, p.target)
		w.clock++
		p.last = w.clock
		if p.inner {
			_, _ = r.Scope().Effect(func(r signals.Reader) error {
				p.live++
				r.OnCleanup(func() { p.live-- })
				_, err := w.read(r, p.target)
				return err
			})
		}
		return p.err
	})
	w.probes = append(w.probes, p)
}

// operate runs one operation. It reports in once whether each node may run at most once in it.
func (w *world) operate() (once bool) {
	nodes := len(w.signals) + len(w.cells)
	switch w.next(9) {
	case 0, 1:
		w.write(w.next(len(w.signals)), w.next(16))
	case 2:
		_ = w.g.Batch(func() error {
			for range w.next(5) {
				w.write(w.next(len(w.signals)), w.next(16))
			}
			return nil
		})
	case 3: // written and taken back: nothing may run
		i := w.next(len(w.signals))
		old := w.values[i]
		before := w.g.Stats().Runs
		_ = w.g.Batch(func() error {
			w.write(i, old+1)
			w.write(i, old)
			return nil
		})
		if now := w.g.Stats().Runs; now != before {
			w.t.Fatalf("%d runs for a value that was taken back", now-before)
		}
	case 4: // reads between the writes
		_ = w.g.Batch(func() error {
			for range w.next(4) {
				w.write(w.next(len(w.signals)), w.next(16))
				w.checkNode(w.next(nodes))
			}
			return nil
		})
		return false
	case 5: // fails: everything is reverted
		saved := append([]int(nil), w.values...)
		failure := errors.New("failure")
		err := w.g.Batch(func() error {
			for range w.next(4) {
				w.write(w.next(len(w.signals)), w.next(16))
				if w.next(3) == 0 {
					w.checkNode(w.next(nodes))
				}
			}
			return failure
		})
		if !errors.Is(err, failure) {
			w.t.Fatalf("Batch returned %v", err)
		}
		w.values = saved
		return false
	case 6:
		if len(w.probes) < 12 {
			w.makeProbe(w.next(nodes), w.next(4) == 0)
		}
	case 7:
		if len(w.probes) > 0 {
			k := w.next(len(w.probes))
			p := w.probes[k]
			_ = p.effect.Dispose()
			_ = p.effect.Dispose()
			if p.live != 0 {
				w.t.Fatalf("%d inner effects outlived the outer one", p.live)
			}
			w.probes = append(w.probes[:k], w.probes[k+1:]...)
		}
	case 8:
		w.checkNode(w.next(nodes))
	}
	return true
}

func (w *world) write(i, v int) {
	w.values[i] = v
	_ = w.signals[i].Set(v)
}

func (w *world) checkNode(i int) {
	w.t.Helper()
	want, wantErr := w.want(i)
	var got int
	var err error
	if i < len(w.signals) {
		got = w.signals[i].Peek()
	} else {
		got, err = w.cells[i-len(w.signals)].peek()
	}
	if (err == nil) != (wantErr == nil) || err == nil && got != want {
		w.t.Fatalf("node %d is %d, %v; want %d, %v", i, got, err, want, wantErr)
	}
}

// check compares all values with the recomputation, and the number of runs with the allowed one.
func (w *world) check(once bool) {
	w.t.Helper()
	if err := w.g.Check(); err != nil {
		w.t.Fatalf("broken graph: %v", err)
	}
	for _, p := range w.probes {
		want, wantErr := w.want(p.target)
		if (p.err == nil) != (wantErr == nil) || p.err == nil && p.value != want {
			w.t.Fatalf("an effect on node %d saw %d, %v; want %d, %v", p.target, p.value, p.err, want, wantErr)
		}
		if once && p.runs > 1 {
			w.t.Fatalf("an effect on node %d ran %d times", p.target, p.runs)
		}
		if p.inner && p.live != 1 {
			w.t.Fatalf("an effect on node %d has %d inner effects, want 1", p.target, p.live)
		}
		if k := p.target - len(w.signals); k >= 0 && p.runs > 0 && w.cells[k].runs > 0 && w.cells[k].last > p.last {
			w.t.Fatalf("an effect ran before the node %d it reads", p.target)
		}
	}
	for k, c := range w.cells {
		if once && c.runs > 1 {
			w.t.Fatalf("cell %d ran %d times", k, c.runs)
		}
		for _, in := range c.inputs {
			// A branch not taken may run later for another reader.
			if k := in - len(w.signals); c.kind != 2 && c.kind != 0 && k >= 0 && c.runs > 0 && w.cells[k].runs > 0 && w.cells[k].last > c.last {
				w.t.Fatalf("a cell of kind %d ran before its input, cell %d", c.kind, k)
			}
		}
		c.runs = 0
	}
	for _, p := range w.probes {
		p.runs = 0
	}
}

// checkAll reads every node, with and without observers.
func (w *world) checkAll() {
	w.t.Helper()
	for i := range len(w.signals) + len(w.cells) {
		w.checkNode(i)
	}
	w.check(false)
}

func runProgram(t failer, code []byte) {
	w := &world{t: t, code: code}
	w.build()
	for len(w.code) > 0 {
		w.check(w.operate())
	}
	w.checkAll()
	for len(w.probes) > 0 {
		_ = w.probes[0].effect.Dispose()
		w.probes = w.probes[1:]
	}
	if edges := w.g.Stats().Edges; edges != 0 {
		t.Fatalf("%d edges are left without an effect", edges)
	}
	w.checkAll()
}

func FuzzGraphAgreesWithRecomputingEverything(f *testing.F) {
	f.Add([]byte{3, 1, 2, 3, 8, 0, 2, 0, 1, 2, 3, 1, 2, 3, 1, 2, 1, 4, 4, 3, 6, 4, 0, 6, 5, 1, 0, 2, 7, 0, 1, 9, 2, 3, 0, 1, 1, 2})
	f.Add([]byte{1, 0, 5, 1, 3, 0, 0, 0, 1, 1, 1, 2, 2, 5, 3, 6, 3, 0, 0, 0, 4, 4, 2, 0, 3, 3, 0, 7, 0, 8, 2})
	f.Fuzz(func(t *testing.T, code []byte) {
		if len(code) > 4096 {
			t.Skip("long programs find nothing that short ones do not")
		}
		runProgram(t, code)
	})
}

func TestGraphAgreesWithRecomputingEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runProgram(t, rapid.SliceOfN(rapid.Byte(), 20, 300).Draw(t, "program"))
	})
}

func TestLongProgramsAgreeWithRecomputingEverything(t *testing.T) {
	for seed := range uint32(200) {
		runProgram(t, program(seed, 2000))
	}
}

// program returns n bytes that depend on the seed alone.
func program(seed uint32, n int) []byte {
	code := make([]byte, n)
	for i := range code {
		seed = seed*1664525 + 1013904223
		code[i] = byte(seed >> 24)
	}
	return code
}

func TestTheSameProgramRunsInTheSameOrder(t *testing.T) {
	code := program(7, 4000)
	trace := func() string {
		w := &world{t: t, code: code}
		w.build()
		out := ""
		for len(w.code) > 0 {
			w.operate()
			for _, p := range w.probes {
				out += fmt.Sprint(p.last, " ")
			}
		}
		return out
	}
	if first := trace(); first != trace() {
		t.Fatal("two runs of one program differ")
	}
}
