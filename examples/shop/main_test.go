package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/scenario"
	"github.com/sluiceflow/sluice/template"
)

func TestScenarios(t *testing.T) { scenario.Run(t, "shop.scenario.yaml") }

// The same scenarios hold for the stock in Go.
func TestScenariosOfTheMachineInGo(t *testing.T) {
	inGo, err := build(options{at: address, inGo: true})
	require.NoError(t, err)
	scenario.RunWith(t, scenario.Options{Workflows: map[string]*template.Workflow{"shop.yaml": inGo}}, "shop.scenario.yaml")
}

// finalOutput is the output of the program at the end, with or without interruptions.
const finalOutput = `order[o-1] shipped: lamp p-o-1
order[o-2] shipped: vase p-o-2
order[o-3] refunded: piano
order[o-4] declined: yacht
order[o-5] shipped: lamp p-o-5
order[o-6] shipped: lamp p-o-6
ledger {"cents":8650,"orders":6}
stock[lamp] {"coming":false,"left":10}
stock[piano] {"coming":false,"left":3}
stock[vase] {"coming":false,"left":2}
`

// services is a town that keeps running when the shop is killed, and counts its requests.
type services struct {
	town    http.Handler
	address string
	mu      sync.Mutex
	shown   bytes.Buffer // the lines that the town prints
	keys    map[string]map[string]bool
	had     int
	at      int // number of the request at which kill is called
	kill    func()
}

func newServices(t *testing.T) *services {
	s := &services{keys: map[string]map[string]bool{}}
	s.town = newTown(&syncWriter{to: &s.shown}).handler()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.address = strings.TrimPrefix(server.URL, "http://")
	return s
}

// ServeHTTP serves a request. It calls kill before it serves the request with the number at; no process receives that answer.
func (s *services) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.keys[r.URL.Path] == nil {
		s.keys[r.URL.Path] = map[string]bool{}
	}
	s.keys[r.URL.Path][r.Header.Get("Idempotency-Key")] = true
	s.had++
	kill := s.had == s.at
	s.mu.Unlock()
	if kill {
		s.kill()
	}
	s.town.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
}

// killAt sets a function that is called at the nth request from now on.
func (s *services) killAt(n int, kill func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.kill = s.had+n, kill
}

func TestEveryOrderComesToItsEnd(t *testing.T) {
	for _, inGo := range []bool{false, true} {
		s, dir := newServices(t), t.TempDir()
		for range 2 { // in the second round everything was done before
			var out bytes.Buffer
			require.NoError(t, runShop(t.Context(), &out, options{dir: dir, at: s.address, inGo: inGo}))
			require.Equal(t, finalOutput, out.String())
		}
	}
}

func TestTheShopIsSuspendedAndGoesOn(t *testing.T) {
	s, dir := newServices(t), t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	s.killAt(3, interrupt)
	var out bytes.Buffer
	require.NoError(t, runShop(ctx, &out, options{dir: dir, at: s.address}))
	require.Contains(t, out.String(), "suspended; to go on, run:\n  go run ./examples/shop -data '"+dir+"'\n")
	out.Reset()
	require.NoError(t, runShop(t.Context(), &out, options{dir: dir, at: s.address}))
	require.Equal(t, finalOutput, out.String())
}

// The program is killed again and again, each time two requests later than before. Each request takes effect once: no order is paid twice,
// and nothing is refunded or refilled twice.
func TestTheProgramIsKilledAndGoesOn(t *testing.T) {
	program := filepath.Join(t.TempDir(), "shop")
	out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Run("rules", func(t *testing.T) { kill(t, program) })
	t.Run("Go", func(t *testing.T) { kill(t, program, "-go") })
}

func kill(t *testing.T, program string, flags ...string) {
	s, dir := newServices(t), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	kills := 0
	for {
		var shown, told bytes.Buffer
		shop := exec.CommandContext(ctx, program, append(flags, "-data", dir, "-services", s.address)...)
		shop.Stdout, shop.Stderr = &shown, &told
		started := make(chan struct{})
		s.killAt(1+2*kills, func() {
			<-started
			_ = shop.Process.Kill() // it may have ended by itself
		})
		require.NoError(t, shop.Start())
		close(started)
		if err := shop.Wait(); shop.ProcessState.Exited() {
			require.NoError(t, err, "%s", told.String())
			require.Equal(t, finalOutput, shown.String())
			break
		}
		kills++
		require.NoError(t, ctx.Err(), "it does not come to its end")
	}
	require.GreaterOrEqual(t, kills, 4)
	t.Logf("%d kills, %d requests", kills, s.had)
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, keys := range map[string]int{"/charges": 6, "/parcels": 5, "/refunds": 1, "/refills": 1} {
		require.Len(t, s.keys[path], keys, path)
	}
	for _, line := range []string{
		"the bank charges o-1 12.50\n", "the bank charges o-3 900.00\n", "the bank pays o-3 back 900.00\n", "the supplier sends 10 × lamp\n",
	} {
		require.Equal(t, 1, strings.Count(s.shown.String(), line), line)
	}
}

// The services of the program are those that the document calls.
func TestTheServicesOfTheProgram(t *testing.T) {
	require.Equal(t, 4, bytes.Count(document, []byte(address)))
	s, err := openServices(io.Discard)
	if err != nil {
		t.Skip(err) // another process has the address
	}
	require.NoError(t, s.close())
}
