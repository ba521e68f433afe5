package signals_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/signals"
)

// per reports the time of one unit of work when an operation does n of them.
func per(b *testing.B, n int, unit string) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/"+unit)
}

func plusOne(g *signals.Graph, from signals.Readable[int]) *signals.Computed[int] {
	switch from := from.(type) {
	case *signals.Signal[int]:
		return signals.NewComputed(g, func(r signals.Reader) (int, error) { return from.Get(r) + 1, nil })
	case *signals.Computed[int]:
		return signals.NewComputed(g, func(r signals.Reader) (int, error) {
			v, err := from.Get(r)
			return v + 1, err
		})
	}
	panic("unknown input")
}

// BenchmarkPropagate writes one signal that w chains of h computeds read, each chain ended by an effect.
func BenchmarkPropagate(b *testing.B) {
	for _, size := range [][2]int{
		{1, 1}, {1, 10}, {1, 100}, {1, 1000}, {10, 1}, {10, 10}, {10, 100}, {10, 1000}, {100, 1}, {100, 10}, {100, 100}, {100, 1000},
		{1000, 1}, {1000, 10}, {1000, 100}, {1, 10_000}, {100_000, 1},
	} {
		w, h := size[0], size[1]
		b.Run(fmt.Sprintf("%dx%d", w, h), func(b *testing.B) {
			g := signals.New()
			src := signals.NewSignal(g, 0)
			sum := 0
			for range w {
				last := plusOne(g, src)
				for range h - 1 {
					last = plusOne(g, last)
				}
				effect(b, g, func(r signals.Reader) error {
					v, err := last.Get(r)
					sum += v
					return err
				})
			}
			sum = 0
			require.NoError(b, src.Set(1))
			require.Equal(b, w*(h+1), sum)
			i := 1
			b.ReportAllocs()
			for b.Loop() {
				i++
				_ = src.Set(i)
			}
			per(b, w*h, "node")
		})
	}
}

// BenchmarkDiamond joins n branches of one signal in one computed.
func BenchmarkDiamond(b *testing.B) {
	for _, n := range []int{5, 1000} {
		b.Run(fmt.Sprintf("branches=%d", n), func(b *testing.B) {
			g := signals.New()
			src := signals.NewSignal(g, 0)
			branches := make([]*signals.Computed[int], n)
			for i := range branches {
				branches[i] = plusOne(g, src)
			}
			got := 0
			effectOn(b, g, sumOf(g, branches), &got)
			require.NoError(b, src.Set(1))
			require.Equal(b, 2*n, got)
			i := 1
			b.ReportAllocs()
			for b.Loop() {
				i++
				_ = src.Set(i)
			}
		})
	}
}

// BenchmarkTriangle sums a chain of n, every link of it read by the sum.
func BenchmarkTriangle(b *testing.B) {
	const n = 10
	g := signals.New()
	src := signals.NewSignal(g, 0)
	chain := []*signals.Computed[int]{plusOne(g, src)}
	for len(chain) < n {
		chain = append(chain, plusOne(g, chain[len(chain)-1]))
	}
	got := 0
	effectOn(b, g, sumOf(g, chain), &got)
	require.NoError(b, src.Set(1))
	require.Equal(b, n+n*(n+1)/2, got)
	i := 1
	b.ReportAllocs()
	for b.Loop() {
		i++
		_ = src.Set(i)
	}
}

// BenchmarkUnstable reads one of two branches, chosen anew by every write, several times.
func BenchmarkUnstable(b *testing.B) {
	g := signals.New()
	src := signals.NewSignal(g, 0)
	double := computed(g, func(r signals.Reader) (int, error) { return src.Get(r) * 2, nil })
	inverse := computed(g, func(r signals.Reader) (int, error) { return -src.Get(r), nil })
	sum := computed(g, func(r signals.Reader) (int, error) {
		total := 0
		for range 20 {
			branch := inverse
			if src.Get(r)%2 == 1 {
				branch = double
			}
			v, err := branch.Get(r)
			if err != nil {
				return 0, err
			}
			total += v
		}
		return total, nil
	})
	got := 0
	effectOn(b, g, sum, &got)
	require.NoError(b, src.Set(3))
	require.Equal(b, 120, got)
	i := 3
	b.ReportAllocs()
	for b.Loop() {
		i++
		_ = src.Set(i)
	}
}

// BenchmarkToggle switches n effects between two signals.
func BenchmarkToggle(b *testing.B) {
	const n = 1000
	g := signals.New()
	left := signals.NewSignal(g, false)
	x, y := signals.NewSignal(g, 1), signals.NewSignal(g, 2)
	sum := 0
	for range n {
		effect(b, g, func(r signals.Reader) error {
			if left.Get(r) {
				sum += x.Get(r)
			} else {
				sum += y.Get(r)
			}
			return nil
		})
	}
	sum = 0
	require.NoError(b, left.Set(true))
	require.Equal(b, n, sum)
	v := true
	b.ReportAllocs()
	for b.Loop() {
		v = !v
		_ = left.Set(v)
	}
}

// BenchmarkCellx stacks layers of four cells, each reading its neighbours in the layer below, under one effect per cell of every layer.
func BenchmarkCellx(b *testing.B) {
	for _, layers := range []int{1000, 2500} {
		b.Run(fmt.Sprintf("layers=%d", layers), func(b *testing.B) {
			g := signals.New()
			var src [4]*signals.Signal[int]
			var cells [4]*signals.Computed[int]
			for i := range src {
				src[i] = signals.NewSignal(g, i+1)
				cells[i] = computed(g, func(r signals.Reader) (int, error) { return src[i].Get(r), nil })
			}
			for range layers {
				below := cells
				cells = [4]*signals.Computed[int]{
					computed(g, func(r signals.Reader) (int, error) { return below[1].Get(r) }),
					computed(g, func(r signals.Reader) (int, error) { return minus(r, below[0], below[2]) }),
					computed(g, func(r signals.Reader) (int, error) { return plus(r, below[1], below[3]) }),
					computed(g, func(r signals.Reader) (int, error) { return below[2].Get(r) }),
				}
				for _, c := range cells {
					var seen int
					effectOn(b, g, c, &seen)
				}
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				_ = g.Batch(func() error {
					for k := range src {
						_ = src[k].Set(4 - k + i%2*3)
					}
					return nil
				})
			}
		})
	}
}

func plus(r signals.Reader, x, y *signals.Computed[int]) (int, error) {
	a, err := x.Get(r)
	if err != nil {
		return 0, err
	}
	b, err := y.Get(r)
	return a + b, err
}

func minus(r signals.Reader, x, y *signals.Computed[int]) (int, error) {
	a, err := x.Get(r)
	if err != nil {
		return 0, err
	}
	b, err := y.Get(r)
	return a - b, err
}

// job is a node of the workflow benchmarks: done when all its predecessors are.
type job struct {
	done  *signals.Signal[bool]
	preds [3]*job
}

// workflow builds n jobs in layers of 100 with three predecessors each; an effect per job puts it on the queue when it is ready.
func workflow(tb testing.TB, n int, gates bool) (run func(), g *signals.Graph, jobs []job) {
	const width = 100
	g = signals.New()
	jobs = make([]job, n)
	queue := make([]*job, 0, n)
	for i := range jobs {
		j := &jobs[i]
		j.done = signals.NewSignal(g, false)
		if i < width {
			continue
		}
		for k := range j.preds {
			j.preds[k] = &jobs[i/width*width-width+(i+k*7)%width]
		}
		if gates {
			gate := signals.All(g, j.preds[0].done, j.preds[1].done, j.preds[2].done)
			effect(tb, g, func(r signals.Reader) error {
				ok, err := gate.Get(r)
				if ok {
					queue = append(queue, j)
				}
				return err
			})
			continue
		}
		ready := computed(g, func(r signals.Reader) (bool, error) {
			a, b, c := j.preds[0].done.Get(r), j.preds[1].done.Get(r), j.preds[2].done.Get(r)
			return a && b && c, nil
		})
		effect(tb, g, func(r signals.Reader) error {
			ok, err := ready.Get(r)
			if ok {
				queue = append(queue, j)
			}
			return err
		})
	}
	run = func() {
		queue = queue[:0]
		for i := range width {
			queue = append(queue, &jobs[i])
		}
		for i := 0; i < len(queue); i++ {
			_ = queue[i].done.Set(true)
		}
		if len(queue) != n {
			tb.Fatalf("%d of %d jobs were ready", len(queue), n)
		}
	}
	return run, g, jobs
}

// BenchmarkWorkflow completes n jobs, each of which wakes those whose predecessors are all done: with a computed per job that reads its three
// predecessors, and with a gate per job. BenchmarkBank is the third form.
func BenchmarkWorkflow(b *testing.B) {
	for _, form := range []string{"computed", "gate"} {
		for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/nodes=%d", form, n), func(b *testing.B) {
				run, g, jobs := workflow(b, n, form == "gate")
				run()
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					_ = g.Batch(func() error {
						for i := range jobs {
							_ = jobs[i].done.Set(false)
						}
						return nil
					})
					b.StartTimer()
					run()
				}
				per(b, n, "node")
			})
		}
	}
}

// BenchmarkJoin completes the n predecessors of one gate, in order.
func BenchmarkJoin(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("inputs=%d", n), func(b *testing.B) {
			g := signals.New()
			done := make([]*signals.Signal[bool], n)
			inputs := make([]signals.Readable[bool], n)
			for i := range done {
				done[i] = signals.NewSignal(g, false)
				inputs[i] = done[i]
			}
			all := signals.All(g, inputs...)
			fired := 0
			effect(b, g, func(r signals.Reader) error {
				ok, err := all.Get(r)
				if ok {
					fired++
				}
				return err
			})
			b.ReportAllocs()
			runs := 0
			for b.Loop() {
				b.StopTimer()
				for i := range done {
					_ = done[i].Set(false)
				}
				b.StartTimer()
				for i := range done {
					_ = done[i].Set(true)
				}
				runs++
			}
			require.Equal(b, runs, fired)
			per(b, n, "node")
		})
	}
}

// BenchmarkCascade runs n effects in a row, each of which writes the signal of the next.
func BenchmarkCascade(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			g := signals.New()
			chain := make([]*signals.Signal[int], n+1)
			for i := range chain {
				chain[i] = signals.NewSignal(g, 0)
			}
			for i := range n {
				effect(b, g, func(r signals.Reader) error { return chain[i+1].Set(chain[i].Get(r)) })
			}
			require.NoError(b, chain[0].Set(1))
			require.Equal(b, 1, chain[n].Peek())
			i := 1
			b.ReportAllocs()
			for b.Loop() {
				i++
				_ = chain[0].Set(i)
			}
			per(b, n, "step")
		})
	}
}

// sink keeps the values that a benchmark makes from being optimised away.
var sink any

// BenchmarkCreate makes one of each kind; the computed and the effect are read, so their links are made too.
func BenchmarkCreate(b *testing.B) {
	b.Run("signal", func(b *testing.B) {
		g := signals.New()
		b.ReportAllocs()
		for b.Loop() {
			sink = signals.NewSignal(g, 0)
		}
	})
	b.Run("computed", func(b *testing.B) {
		g := signals.New()
		src := signals.NewSignal(g, 0)
		b.ReportAllocs()
		for b.Loop() {
			sink = computed(g, func(r signals.Reader) (int, error) { return src.Get(r), nil })
		}
	})
	b.Run("effect", func(b *testing.B) {
		const n = 100_000
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			g := signals.New()
			cells := make([]*signals.Computed[int], n)
			for i := range cells {
				src := signals.NewSignal(g, i)
				cells[i] = computed(g, func(r signals.Reader) (int, error) { return src.Get(r), nil })
			}
			b.StartTimer()
			for _, c := range cells {
				_, _ = g.Effect(func(r signals.Reader) error {
					_, err := c.Get(r)
					return err
				})
			}
		}
		per(b, n, "effect")
	})
}

// BenchmarkMemory reports the bytes that n of each kind keep, and the time of one collection over a workflow of that size.
func BenchmarkMemory(b *testing.B) {
	const n = 1_000_000
	for _, kind := range []string{"signal", "computed", "workflow/computed", "workflow/gate"} {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				g := signals.New()
				src := signals.NewSignal(g, 0)
				keep := make([]any, n)
				var run func()
				before := heap()
				switch kind {
				case "signal":
					for i := range keep {
						keep[i] = signals.NewSignal(g, 0)
					}
				case "computed":
					for i := range keep {
						keep[i] = computed(g, func(r signals.Reader) (int, error) { return src.Get(r), nil })
					}
				default:
					var jobs []job
					run, _, jobs = workflow(b, n, kind == "workflow/gate")
					keep[0] = jobs
					before += 48 * n // the benchmark's own jobs and its queue
				}
				bytes := float64(heap()-before) / n
				b.ReportMetric(bytes, "B/each")
				runtime.KeepAlive(keep)
				runtime.KeepAlive(run)
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
