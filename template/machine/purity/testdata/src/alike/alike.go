// Package alike has machines that look like those of package planted, and are pure.
package alike

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	randv2 "math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"text/template"
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

// Time that is given.

var _ = machine.Define("set in a state", "1", func(a *Act, s *State, e Event) (*State, error) {
	reflect.ValueOf(s).Elem().Field(0).SetInt(5)
	return s, nil
})

var _ = machine.Define("now of the activation", "1", func(a *Act, s *State, e Event) (*State, error) {
	if a.Now().Sub(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) > 24*time.Hour {
		a.After("deadline", time.Minute)
	}
	s.Text = a.Now().UTC().Format(time.RFC3339)
	return s, nil
})

var _ = machine.Define("random of the activation", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: int(a.Rand()), Text: a.UUID()}, nil
})

var _ = machine.Define("seeded random", "1", func(a *Act, s *State, e Event) (*State, error) {
	r := randv2.New(randv2.NewPCG(a.Rand(), 1))
	return &State{N: r.IntN(6)}, nil
})

var _ = machine.Define("times", "1", func(a *Act, s *State, e Event) (*State, error) {
	t, err := time.Parse(time.RFC3339, s.Text)
	d, _ := time.ParseDuration("3s")
	u := time.Unix(int64(s.N), 0).UTC().Hour()
	return &State{N: t.Add(d).Day() + u}, err
})

// Names that look like others.

type wall struct{ at time.Time }

func (w wall) Now() time.Time                  { return w.at }
func (w wall) Sleep(d time.Duration) wall      { return wall{w.at.Add(d)} }
func (w wall) Println(a ...any) string         { return fmt.Sprintln(a...) }
func (w wall) Since(t time.Time) time.Duration { return w.at.Sub(t) }

var _ = machine.Define("methods of other types", "1", func(a *Act, s *State, e Event) (*State, error) {
	time := wall{a.Now()}
	return &State{Text: time.Println(time.Sleep(3).Now(), time.Since(a.Now()))}, nil
})

// Impure functions that are not reached.

func report(s *State) { fmt.Println(time.Now(), s) }

func Main() {
	report(&State{})
	go deep.SetLimit(3)
	lastRun = time.Now()
}

var lastRun time.Time

var _ = machine.Define("impure function beside it", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: s.N + 1}, nil
})

type server struct{ limit int }

func (s *server) serve() error { return http.ListenAndServe(":80", nil) }

func (s *server) step(a *Act, st *State, e Event) (*State, error) {
	st.N = min(st.N, s.limit)
	return st, nil
}

var _ = machine.Define("impure method beside it", "1", (&server{limit: 3}).step)

func init() {
	begin := time.Now()
	machine.Define("definition beside a clock", "1", func(a *Act, s *State, e Event) (*State, error) { return s, nil })
	fmt.Println(time.Since(begin))
}

var _ = machine.Define("pure part of an impure package", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: helper.Total([]int{1, 2}), Text: deep.Fixed{}.Time().String()}, nil
})

var _ = machine.Define("clock that stands", "1", func(a *Act, s *State, e Event) (*State, error) {
	return at(s, deep.Fixed{At: a.Now()})
})

func at(s *State, c deep.Clock) (*State, error) {
	s.N = c.Time().Second()
	return s, nil
}

// Pure functions of packages that do other things, too.

var _ = machine.Define("pure functions", "1", func(a *Act, s *State, e Event) (*State, error) {
	u, err := url.Parse(s.Text)
	if err != nil {
		return s, err
	}
	ip := net.ParseIP(u.Hostname())
	addr, _ := netip.ParseAddr(ip.String())
	s.Text = http.StatusText(http.StatusOK) + addr.String() + filepath.Join("a", "b")
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil, err
	}
	return s, nil
})

var _ = machine.Define("hash", "1", func(a *Act, s *State, e Event) (*State, error) {
	h := sha256.New()
	io.WriteString(h, s.Text)
	return &State{Text: hex.EncodeToString(h.Sum(nil))}, nil
})

var _ = machine.Define("buffer", "1", func(a *Act, s *State, e Event) (*State, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%v %d", s.Names, s.N)
	err := json.NewEncoder(&b).Encode(e.Count)
	return &State{Text: b.String()}, err
})

var _ = machine.Define("sizes", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{N: int(unsafe.Sizeof(s.N)) + reflect.TypeOf(s).Elem().NumField() + int(math.MaxInt8)}, nil
})

var _ = machine.Define("big", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{Text: new(big.Int).Exp(big.NewInt(2), big.NewInt(100), nil).String()}, nil
})

// Variables that do not change.

var (
	errEmpty  = errors.New("empty")
	word      = regexp.MustCompile(`^\w+$`)
	prices    = map[string]int{"book": 1200, "pen": 150}
	steps     = []string{"placed", "paid", "shipped"}
	page      = template.Must(template.New("page").Parse("{{ .Text }}"))
	limits    = struct{ most, least int }{10, 1}
	cheapest  = sync.OnceValue(func() int { return slices.Min(slices.Collect(values())) })
	squares   [10]int
	ranks     = map[string]int{}
	byWord    = func(x, y string) int { return cmp.Compare(len(x), len(y)) }
	threshold *big.Int
)

func values() func(func(int) bool) {
	return func(yield func(int) bool) {
		for _, name := range steps {
			if !yield(prices[name]) {
				return
			}
		}
	}
}

//go:embed alike.go
var source string

func init() {
	for i := range squares {
		squares[i] = i * i
	}
	for i, s := range steps {
		ranks[s] = i
	}
	slices.SortFunc(steps, func(x, y string) int { return ranks[x] - ranks[y] })
	threshold = big.NewInt(3)
}

var _ = machine.Define("constants", "1", func(a *Act, s *State, e Event) (*State, error) {
	if s.Text == "" {
		return nil, errEmpty
	}
	if !word.MatchString(s.Text) || len(source) == 0 {
		return nil, fmt.Errorf("%q is no word: %w", s.Text, errEmpty)
	}
	s.N = min(prices[s.Text]+limits.least, limits.most) + squares[3] + ranks[s.Text] + threshold.Sign()
	return s, nil
})

var _ = machine.Define("values that are made once", "1", func(a *Act, s *State, e Event) (*State, error) {
	var b strings.Builder
	err := page.Execute(&b, s)
	return &State{N: cheapest() + slices.Index(steps, b.String())}, err
})

var _ = machine.Define("variable of a function", "1", func(a *Act, s *State, e Event) (*State, error) {
	slices.SortFunc(s.Names, byWord)
	return s, nil
})

var _ = machine.Define("copy of a variable", "1", func(a *Act, s *State, e Event) (*State, error) {
	mine := maps.Clone(prices)
	mine["pen"]--
	most := limits
	most.most++
	list := append([]string(nil), steps...)
	list[0] = "sent"
	helper.Count(mine, a.Key())
	return &State{N: len(mine) + most.most, Names: list}, nil
})

var _ = machine.Define("local pointer", "1", func(a *Act, s *State, e Event) (*State, error) {
	var c helper.Counter
	p := &c
	p.N += 3
	s.Count["x"] = c.Next()
	next := func() int { return c.Next() }
	return &State{N: next() + next()}, nil
})

// Functions that are made.

func made(limit int) func(*Act, *State, Event) (*State, error) {
	names := map[string]bool{}
	for _, name := range steps {
		names[name] = true
	}
	return func(a *Act, s *State, e Event) (*State, error) {
		total := 0
		add := func(n int) { total += n }
		add(s.N)
		if names[s.Text] {
			total = min(total, limit)
		}
		return &State{N: total}, nil
	}
}

var _ = machine.Define("made", "1", made(3))

func all() {
	for i, name := range steps {
		machine.Define("captured range variables "+name, "1", func(a *Act, s *State, e Event) (*State, error) {
			return &State{N: i, Text: name}, nil
		})
	}
}

var _ = helper.Register("wrapped", func(a *Act, s *State, e Event) (*State, error) { return s, nil })

type money struct{ cents int }

func (m money) String() string { return fmt.Sprintf("%d.%02d", m.cents/100, m.cents%100) }

var _ = machine.Define("stringer", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{Text: fmt.Sprint(money{s.N}, &money{s.N}, []money{{1}}, map[string]money{})}, nil
})

var _ = machine.Define("pointers that print as values", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{Text: fmt.Sprintf("%+v %T %v %% %s", s, &s.N, errEmpty, a.Now())}, nil
})

func largest[T cmp.Ordered](list ...T) T { return slices.Max(list) }

var _ = machine.Define("generic", "1", func(a *Act, s *State, e Event) (*State, error) {
	defer func() { s.N = largest(s.N, 3) }()
	return s, nil
})

// The order of maps, where it does not show.

var _ = machine.Define("sorted after", "1", func(a *Act, s *State, e Event) (*State, error) {
	var keys []string
	for k := range e.Count {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		a.After(k, time.Second)
	}
	return s, nil
})

type byLength []string

func (b byLength) Len() int { return len(b) }
func (b byLength) Less(i, j int) bool {
	return len(b[i]) < len(b[j]) || len(b[i]) == len(b[j]) && b[i] < b[j]
}
func (b byLength) Swap(i, j int) { b[i], b[j] = b[j], b[i] }

func inOrder(list []string) { sort.Sort(byLength(list)) }

var _ = machine.Define("sorted by a helper", "1", func(a *Act, s *State, e Event) (*State, error) {
	for k, n := range e.Count {
		if n > 0 {
			s.Names = append(s.Names, k)
		}
	}
	inOrder(s.Names)
	return s, nil
})

var _ = machine.Define("sorted keys", "1", func(a *Act, s *State, e Event) (*State, error) {
	for _, k := range slices.Sorted(maps.Keys(e.Count)) {
		s.Names = append(s.Names, k)
	}
	values := slices.Collect(maps.Values(e.Count))
	slices.Sort(values)
	s.N = values[0]
	return s, nil
})

var _ = machine.Define("fills a map", "1", func(a *Act, s *State, e Event) (*State, error) {
	for k, n := range e.Count {
		s.Count[k] = n
		s.Count[strings.ToUpper(k)] += n
	}
	return s, nil
})

var _ = machine.Define("inverts a map", "1", func(a *Act, s *State, e Event) (*State, error) {
	names := map[int]string{}
	for k, n := range e.Count {
		names[n] = k
	}
	return &State{Text: names[3]}, nil
})

var _ = machine.Define("groups", "1", func(a *Act, s *State, e Event) (*State, error) {
	groups := map[int][]string{}
	for k, n := range e.Count {
		groups[n] = append(groups[n], k)
	}
	for _, g := range groups {
		sort.Strings(g)
	}
	return &State{Names: groups[3]}, nil
})

var _ = machine.Define("counts", "1", func(a *Act, s *State, e Event) (*State, error) {
	total, any := 0, false
	for k, n := range e.Count {
		if strings.HasPrefix(k, "x") {
			continue
		}
		s.N++
		total += n * 2
		any = any || n > 3
	}
	return &State{N: total, Text: fmt.Sprint(any)}, nil
})

var _ = machine.Define("least", "1", func(a *Act, s *State, e Event) (*State, error) {
	least, most := math.MaxInt, 0
	for _, n := range e.Count {
		if n < least {
			least = n
		}
		most = max(most, n)
	}
	return &State{N: most - least}, nil
})

var _ = machine.Define("least key", "1", func(a *Act, s *State, e Event) (*State, error) {
	first, count := "", 0
	for k, n := range e.Count {
		if first == "" || k < first {
			first, count = k, n
		}
	}
	return &State{Text: first, N: count}, nil
})

var _ = machine.Define("greatest with a key", "1", func(a *Act, s *State, e Event) (*State, error) {
	best, most := "", -1
	for k, n := range e.Count {
		if n > most || n == most && k < best {
			best, most = k, n
		}
	}
	return &State{Text: best, N: most}, nil
})

var _ = machine.Define("looks for one", "1", func(a *Act, s *State, e Event) (*State, error) {
	found := false
	for _, n := range e.Count {
		if n > 3 {
			found = true
			break
		}
	}
	for k := range e.Count {
		if k == s.Text {
			return nil, errEmpty
		}
	}
	return &State{Text: fmt.Sprint(found)}, nil
})

var _ = machine.Define("deletes", "1", func(a *Act, s *State, e Event) (*State, error) {
	for k, n := range s.Count {
		if n == 0 {
			delete(s.Count, k)
		}
	}
	maps.DeleteFunc(s.Count, func(k string, n int) bool { return n < 0 })
	return s, nil
})

var _ = machine.Define("changes each", "1", func(a *Act, s *State, e Event) (*State, error) {
	lines := map[string]*State{}
	for k, line := range lines {
		line.N++
		line.Text = k
		line.Names = append(line.Names, k)
		sum := 0.0
		for _, n := range line.Count {
			sum++
			_ = n
		}
		lines[k] = line
	}
	return s, nil
})

var _ = machine.Define("only as often", "1", func(a *Act, s *State, e Event) (*State, error) {
	for range e.Count {
		a.After("again", time.Second)
		s.Text += "x"
	}
	return s, nil
})

var _ = machine.Define("collected", "1", func(a *Act, s *State, e Event) (*State, error) {
	s.Count = maps.Collect(maps.All(e.Count))
	s.N = len(e.Count)
	return s, nil
})

//sluice:pure the folder never changes while the program lives
func folder() string { return os.TempDir() }

var _ = machine.Define("trusted", "1", func(a *Act, s *State, e Event) (*State, error) {
	return &State{Text: folder()}, nil
})

var _ = machine.Migrate("2", func(s *State) (*State, error) {
	return &State{N: s.N}, nil
})
