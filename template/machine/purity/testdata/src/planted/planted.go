// Package planted has machines with one impurity each.
package planted

import (
	crand "crypto/rand"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"log"
	"log/slog"
	"maps"
	"math/rand"
	randv2 "math/rand/v2"
	"net"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"helper"
	"helper/deep"

	"github.com/sluiceflow/sluice/template/flow/machine"
)

type (
	State = helper.State
	Event = helper.Event
	Act   = helper.Act
)

// The clock.

var _ = machine.Define("direct", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: time.Now().Second()}, nil // want `machine "direct" is impure: time.Now depends on the clock at planted.go:\d+:\d+; take the time from a.Now`
})

var _ = machine.Define("named", "1", named)

func named(a *Act, s *State, e Event) (*State, error) {
	return &State{N: int(time.Since(time.Time{}))}, nil // want `machine "named" is impure: time.Since depends on the clock at planted.go:\d+:\d+, reached by way of named \(planted.go:\d+:\d+\); `
}

var _ = machine.Define("third", "1", third)

func third(a *Act, s *State, e Event) (*State, error) { return s, first(s) }
func first(s *State) error                            { return second(s) }
func second(s *State) error {
	time.Sleep(1) // want `machine "third" is impure: time.Sleep depends on the clock at planted.go:\d+:\d+, reached by way of third \(planted.go:\d+:\d+\), first \(planted.go:\d+:\d+\), second \(planted.go:\d+:\d+\); `
	return nil
}

var _ = machine.Define("far", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{Text: helper.Greeting(s.Text)}, nil // want `machine "far" is impure: time.Now depends on the clock at helper/deep/deep.go:\d+:\d+, reached by way of helper.Greeting \(planted.go:\d+:\d+\), hour \(helper/helper.go:\d+:\d+\), deep.Hour \(helper/helper.go:\d+:\d+\); take`
})

var _ = machine.Define("zone", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: time.Unix(int64(s.N), 0).Hour()}, nil // want `machine "zone" is impure: time.Unix\(…\).Hour depends on the time zones of the host at`
})

var _ = machine.Define("function value", "1", func(a *Act, s *State, e Event) (*State, error) {
	now := time.Now // want `machine "function value" is impure: time.Now depends on the clock`
	return &State{N: now().Second()}, nil
})

var tick = time.Now // want `machine "variable of a function" is impure: time.Now depends on the clock at planted.go:\d+:\d+, reached by way of variable tick \(planted.go:\d+:\d+\); `

var _ = machine.Define("variable of a function", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: tick().Second()}, nil
})

var _ = machine.Migrate("2", func(s *State) (*State, error) {
	s.Text = time.Now().String() // want `the migration from version "2" is impure: time.Now depends on the clock at`
	return s, nil
})

// Methods.

type desk struct{ opened int }

func (d *desk) step(a *Act, s *State, e Event) (*State, error) {
	return &State{N: d.age()}, nil
}

func (d *desk) age() int { return int(time.Until(time.Time{})) } // want `machine "method value" is impure: time.Until depends on the clock at planted.go:\d+:\d+, reached by way of desk.step \(planted.go:\d+:\d+\), desk.age \(planted.go:\d+:\d+\); `

var _ = machine.Define("method value", "1", (&desk{}).step)

type base struct{}

func (base) draw() int { return rand.Int() } // want `machine "embedded" is impure: math/rand.Int is random at planted.go:\d+:\d+, reached by way of base.draw`

type over struct {
	base
	n int
}

var _ = machine.Define("embedded", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: over{n: 1}.draw()}, nil
})

var _ = machine.Define("interface", "1", func(a *Act, s *State, e Event) (*State, error) {
	return at(s, deep.Wall{}) // want `machine "interface" is impure: time.Now depends on the clock at helper/deep/deep.go:\d+:\d+, reached by way of deep.Wall.Time \(planted.go:\d+:\d+\); `
})

func at(s *State, c deep.Clock) (*State, error) {
	s.N = c.Time().Second()
	return s, nil
}

type stamped struct{ n int }

func (s stamped) String() string { return fmt.Sprint(s.n, os.Getpid()) } // want `machine "stringer" is impure: os.Getpid depends on the operating system at planted.go:\d+:\d+, reached by way of stamped.String \(planted.go:\d+:\d+\); let an effect do it`

var _ = machine.Define("stringer", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{Text: fmt.Sprintf("%v", stamped{s.N})}, nil
})

type counting struct{ n int }

func (c *counting) step(a *Act, s *State, e Event) (*State, error) {
	c.n++
	return &State{N: c.n}, nil
}

var _ = machine.Define("receiver", "1", (&counting{}).step) // want `machine "receiver" is impure: counting.step changes its receiver \(planted.go:\d+:\d+\), which outlives the activation at`

type holder struct{ now func() time.Time }

func (h holder) step(a *Act, s *State, e Event) (*State, error) {
	return &State{N: h.now().Second()}, nil
}

func (h holder) define() *machine.Definition { return machine.Define("field", "1", h.step) }

var _ = holder{now: time.Now}.define() // want `the machine of define is impure: time.Now depends on the clock at`

// Functions.

func generic[T ~int | ~int64](n T) T { return n + T(randv2.IntN(6)) } // want `machine "generic" is impure: math/rand/v2.IntN is random at planted.go:\d+:\d+, reached by way of generic`

var _ = machine.Define("generic", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: generic(s.N)}, nil
})

func texts[T fmt.Stringer](v T) string { return v.String() }

type seeded struct{}

func (seeded) String() string { return fmt.Sprint(maphash.String(maphash.MakeSeed(), "x")) } // want `machine "type argument" is impure: hash/maphash.String is random` `machine "type argument" is impure: hash/maphash.MakeSeed is random`

var _ = machine.Define("type argument", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{Text: texts(seeded{})}, nil
})

var _ = machine.Define("deferred", "1", func(a *Act, s *State, e Event) (*State, error) {
	defer log.Println("stepped") // want `machine "deferred" is impure: log.Println writes output or logs at`
	return s, nil
})

var _ = machine.Define("slog", "1", func(a *Act, s *State, e Event) (*State, error) {
	defer func() { slog.Info("stepped") }() // want `machine "slog" is impure: log/slog.Info writes output or logs at`
	return s, nil
})

var _ = machine.Define("closure", "1", func(a *Act, s *State, e Event) (*State, error) {
	draw := func() int {
		return func() int {
			b := make([]byte, 1)
			crand.Read(b) // want `machine "closure" is impure: crypto/rand.Read is random at`
			return int(b[0])
		}()
	}
	return &State{N: draw()}, nil
})

func made(limit int) func(*Act, *State, Event) (*State, error) {
	return func(a *Act, s *State, e Event) (*State, error) {
		_, err := os.ReadFile("limits") // want `machine "made" is impure: os.ReadFile depends on the operating system at planted.go:\d+:\d+, reached by way of made`
		return &State{N: limit}, err
	}
}

var _ = machine.Define("made", "1", made(3))

func counted() func(*Act, *State, Event) (*State, error) {
	n := 0
	return func(a *Act, s *State, e Event) (*State, error) {
		n++ // want `machine "captured" is impure: the function literal shares the variable n with later activations, and it is changed at`
		return &State{N: n}, nil
	}
}

var _ = machine.Define("captured", "1", counted())

func started() *machine.Definition {
	begin := time.Now() // want `machine "captured clock" is impure: time.Now depends on the clock`
	return machine.Define("captured clock", "1", func(a *Act, s *State, e Event) (*State, error) {
		return &State{N: begin.Second()}, nil
	})
}

var _ = helper.Register("wrapped", func(a *Act, s *State, e Event) (*State, error) {
	return &State{Text: string(deep.Token())}, nil // want `what is given to Register: "wrapped" is impure: crypto/rand.Read is random at helper/deep/deep.go:\d+:\d+, reached by way of deep.Token`
})

var _ = machine.Define("argument", "1", func(a *Act, s *State, e Event) (*State, error) {
	slices.SortFunc(s.Names, func(x, y string) int { return rand.Intn(3) - 1 }) // want `machine "argument" is impure: math/rand.Intn is random`
	return s, nil
})

// Variables.

var seen = map[string]int{} // the fault is where it changes

var _ = machine.Define("written", "1", func(a *Act, s *State, e Event) (*State, error) {
	seen[a.Key()]++ // want `machine "written" is impure: the function literal changes the package variable seen at planted.go:\d+:\d+; keep it in the state of the cell`
	return s, nil
})

var rate = 3

func SetRate(n int) { rate = n } // want `machine "read" is impure: SetRate changes the package variable rate at planted.go:\d+:\d+, reached by way of variable rate \(planted.go:\d+:\d+\); `

var _ = machine.Define("read", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: rate}, nil
})

var _ = machine.Define("read abroad", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: deep.Limit}, nil // want `machine "read abroad" is impure: SetLimit changes the package variable Limit at helper/deep/deep.go:\d+:\d+, reached by way of deep.variable Limit`
})

var _ = machine.Define("initial value abroad", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{Text: deep.Host}, nil // want `machine "initial value abroad" is impure: os.Hostname depends on the operating system at helper/deep/deep.go:\d+:\d+, reached by way of deep.variable Host`
})

var region string

func init() { region = os.Getenv("REGION") } // want `machine "init" is impure: os.Getenv depends on the operating system at planted.go:\d+:\d+, reached by way of variable region \(planted.go:\d+:\d+\), init`

var _ = machine.Define("init", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{Text: region}, nil
})

var counts = map[string]int{}

var _ = machine.Define("changed by a call", "1", func(a *Act, s *State, e Event) (*State, error) {
	helper.Count(counts, a.Key()) // want `machine "changed by a call" is impure: the function literal changes the package variable counts at`
	return s, nil
})

var totals = map[string]int{}

var _ = machine.Define("alias", "1", func(a *Act, s *State, e Event) (*State, error) {
	t := totals
	t["all"] = s.N // want `machine "alias" is impure: the function literal changes the package variable totals at`
	return s, nil
})

var numbers helper.Counter

var _ = machine.Define("method of a variable", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: numbers.Next()}, nil // want `machine "method of a variable" is impure: the function literal changes the package variable numbers at`
})

// Concurrency.

var _ = machine.Define("goroutine", "1", func(a *Act, s *State, e Event) (*State, error) {
	go func() { s.N++ }() // want `machine "goroutine" is impure: a go statement runs concurrently at`
	return s, nil
})

var _ = machine.Define("channel", "1", func(a *Act, s *State, e Event) (*State, error) {
	c := make(chan int, 1) // want `a channel runs concurrently`
	c <- 1                 // want `a send on a channel runs concurrently`
	select {               // want `select runs concurrently`
	case s.N = <-c: // want `a receive from a channel runs concurrently`
	default:
	}
	close(c)      // want `close runs concurrently`
	for range c { // want `a range over a channel runs concurrently`
	}
	return s, nil
})

var _ = machine.Define("mutex", "1", func(a *Act, s *State, e Event) (*State, error) {
	var mu sync.Mutex
	mu.Lock() // want `machine "mutex" is impure: sync.Mutex.Lock synchronises goroutines at`
	return s, nil
})

var _ = machine.Define("atomic", "1", func(a *Act, s *State, e Event) (*State, error) {
	var n int64
	return &State{N: int(atomic.AddInt64(&n, 1))}, nil // want `machine "atomic" is impure: sync/atomic.AddInt64 synchronises goroutines at`
})

// The process and what is outside of it.

var _ = machine.Define("network", "1", func(a *Act, s *State, e Event) (*State, error) {
	_, err := net.LookupHost("localhost") // want `machine "network" is impure: net.LookupHost uses the network at`
	return s, err
})

var _ = machine.Define("http", "1", func(a *Act, s *State, e Event) (*State, error) {
	_, err := http.Get("http://localhost") // want `machine "http" is impure: net/http.Get uses the network at`
	return s, err
})

var _ = machine.Define("syscall", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: syscall.Getuid()}, nil // want `machine "syscall" is impure: syscall.Getuid depends on the operating system at`
})

var _ = machine.Define("output", "1", func(a *Act, s *State, e Event) (*State, error) {
	fmt.Println("stepped") // want `machine "output" is impure: fmt.Println writes output or logs at`
	return s, nil
})

var _ = machine.Define("stdout", "1", func(a *Act, s *State, e Event) (*State, error) {
	fmt.Fprintln(os.Stdout, "stepped") // want `machine "stdout" is impure: os.Stdout depends on the operating system at`
	return s, nil
})

var _ = machine.Define("built-in output", "1", func(a *Act, s *State, e Event) (*State, error) {
	println("stepped") // want `machine "built-in output" is impure: println writes output or logs at`
	return s, nil
})

var _ = machine.Define("runtime", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: runtime.NumGoroutine()}, nil // want `machine "runtime" is impure: runtime.NumGoroutine depends on the process at`
})

// Memory.

var _ = machine.Define("unsafe", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: int(uintptr(unsafe.Pointer(s)))}, nil // want `machine "unsafe" is impure: unsafe.Pointer shows memory and addresses at`
})

var _ = machine.Define("address", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{Text: fmt.Sprintf("%[2]*[1]d %[3]p", s.N, 3, s)}, nil // want `machine "address" is impure: fmt.Sprintf with "%p" prints an address at`
})

var _ = machine.Define("pointer in a struct", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{Text: fmt.Sprint(struct{ S *State }{s})}, nil // want `machine "pointer in a struct" is impure: fmt.Sprint of .* prints an address at`
})

var _ = machine.Define("pointer to a number", "1", func(a *Act, s *State, e Event) (*State, error) {
	return s, fmt.Errorf("bad number %v", &s.N) // want `machine "pointer to a number" is impure: fmt.Errorf of &s.N, a \*int, prints an address at`
})

var _ = machine.Define("reflection", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: int(reflect.ValueOf(s).Pointer())}, nil // want `machine "reflection" is impure: reflect.Value.Pointer shows memory and addresses at`
})

var reflectedOn, alsoReflectedOn int

var _ = machine.Define("set by reflection", "1", func(a *Act, s *State, e Event) (*State, error) {
	reflect.ValueOf(&reflectedOn).Elem().SetInt(5) // want `machine "set by reflection" is impure: the function literal changes the package variable reflectedOn at`
	return s, nil
})

var _ = machine.Define("set by a variable of reflection", "1", func(a *Act, s *State, e Event) (*State, error) {
	v := reflect.ValueOf(&alsoReflectedOn)
	if w := v.Elem(); w.CanSet() {
		w.Set(reflect.ValueOf(s.N)) // want `machine "set by a variable of reflection" is impure: the function literal changes the package variable alsoReflectedOn at`
	}
	return s, nil
})

// The order of maps.

var _ = machine.Define("append", "1", func(a *Act, s *State, e Event) (*State, error) {
	for k := range e.Count {
		s.Names = append(s.Names, k) // want `machine "append" is impure: the range over the map e.Count \(line \d+\) shows its order: it appends to s.Names, which is not sorted after it at planted.go:\d+:\d+; range over`
	}
	return s, nil
})

var charge = machine.Effect[string, int]("charge")

var _ = machine.Define("effects", "1", func(a *Act, s *State, e Event) (*State, error) {
	for k := range e.Count {
		a.After(k, time.Second) // want `machine "effects" is impure: .* it calls a.After, which changes a, for each entry at`
	}
	return s, nil
})

var _ = machine.Define("text", "1", func(a *Act, s *State, e Event) (*State, error) {
	var b strings.Builder
	for k := range e.Count {
		b.WriteString(k) // want `machine "text" is impure: .* it calls b.WriteString, which changes b, for each entry at`
	}
	return &State{Text: b.String()}, nil
})

var _ = machine.Define("concatenation", "1", func(a *Act, s *State, e Event) (*State, error) {
	for k := range e.Count {
		s.Text += k // want `machine "concatenation" is impure: .* it combines the values of s.Text, which depend on their order at`
	}
	return s, nil
})

var _ = machine.Define("floats", "1", func(a *Act, s *State, e Event) (*State, error) {
	sum := 0.0
	for _, v := range e.Count {
		sum += 1 / float64(v) // want `machine "floats" is impure: .* it combines the values of sum, which depend on their order at`
	}
	return &State{N: int(sum)}, nil
})

var _ = machine.Define("last", "1", func(a *Act, s *State, e Event) (*State, error) {
	for k := range e.Count {
		s.Text = k // want `machine "last" is impure: .* it sets s.Text to k, and the last entry wins at`
	}
	return s, nil
})

var _ = machine.Define("returned", "1", func(a *Act, s *State, e Event) (*State, error) {
	for k, v := range e.Count {
		if v > 10 {
			return s, fmt.Errorf("too many %s", k) // want `machine "returned" is impure: .* it returns fmt.Errorf\("too many %s", k\) of the first entry that it comes to at`
		}
	}
	return s, nil
})

var _ = machine.Define("greatest", "1", func(a *Act, s *State, e Event) (*State, error) {
	for k, v := range e.Count {
		if v > s.N {
			s.N = v
			s.Text = k // want `machine "greatest" is impure: .* it sets s.Text to k, and the last entry wins at`
		}
	}
	return s, nil
})

var _ = machine.Define("numbered", "1", func(a *Act, s *State, e Event) (*State, error) {
	n := 0
	for k := range e.Count {
		n++
		s.Count[k] = n // want `machine "numbered" is impure: .* it reads n, which the entries before have changed at`
	}
	return s, nil
})

var _ = machine.Define("first few", "1", func(a *Act, s *State, e Event) (*State, error) {
	for k := range e.Count {
		delete(s.Count, k)
		s.N++
		if len(k) > 3 {
			break // want `machine "first few" is impure: .* it ends early, and what it has done by then depends on the order at`
		}
	}
	return s, nil
})

var _ = machine.Define("keys", "1", func(a *Act, s *State, e Event) (*State, error) {
	s.Names = slices.Collect(maps.Keys(e.Count)) // want `machine "keys" is impure: maps.Keys has the order of a map, which is random at`
	return s, nil
})

var _ = machine.Define("sequence", "1", func(a *Act, s *State, e Event) (*State, error) {
	for v := range maps.Values(e.Count) {
		s.Names = append(s.Names, fmt.Sprint(v)) // want `machine "sequence" is impure: .* it appends to s.Names, which is not sorted after it`
	}
	return s, nil
})

var _ = machine.Define("effects of a helper", "1", func(a *Act, s *State, e Event) (*State, error) {
	for k, v := range e.Count {
		pay(a, k, v) // want `machine "effects of a helper" is impure: .* it calls pay, which changes a, for each entry at`
	}
	return s, nil
})

func pay(a *Act, to string, n int) { charge.Emit(a, hex.EncodeToString([]byte(to))) }
