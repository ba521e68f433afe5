package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const shop = `package shop

import (
	"example.com/shop/pay"
	"github.com/google/uuid"
	"github.com/sluiceflow/sluice/template/flow/machine"
)

type Order struct{ ID, Receipt string }

type Placed struct{ ID string }

var Orders = machine.Define("order", "3", step)

func step(a *machine.Activation[string], o *Order, e Placed) (*Order, error) {
	return &Order{ID: newID(e), Receipt: pay.Receipt(e.ID)}, nil
}

func newID(e Placed) string { return e.ID + uuid.New().String() }
`

const pay = `// Package pay makes receipts.
package pay

import (
	"strconv"
	"time"
)

var now = time.Now

// Receipt numbers a receipt.
func Receipt(id string) string { return id + strconv.FormatInt(stamp(), 36) }

func stamp() int64 { return now().UnixNano() }
`

// go vet runs the tool over a module with a library package and tests, and reports the impurities with their positions.
func TestGoVetRunsTheTool(t *testing.T) {
	dir, tool := module(t, map[string]string{"shop.go": shop, "pay/pay.go": pay,
		"shop_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestOrders(t *testing.T) { _ = Orders }\n"})
	out, err := vet(dir, tool)
	require.Error(t, err)
	out = regexp.MustCompile(`github\.com/google/uuid/(\w+)\.go:\d+:\d+`).ReplaceAllString(out, "$1.go")
	require.Equal(t, `shop.go:16:43: machine "order" is impure: time.Now depends on the clock at example.com/shop/pay/pay.go:9:16, reached by way of `+
		`step (shop.go:13:43), pay.Receipt (shop.go:16:43), stamp (example.com/shop/pay/pay.go:12:64), variable now (example.com/shop/pay/pay.go:14:29); `+
		`take the time from a.Now, and wait with a.After or a.At
shop.go:19:50: machine "order" is impure: crypto/rand.Reader is random at uuid.go, reached by way of `+
		`step (shop.go:13:43), newID (shop.go:16:20), uuid.New (shop.go:19:50), NewRandom (version4.go), variable rander (version4.go); draw from a.Rand or a.UUID
`, out)
}

func TestGoVetIsSilentOverAPureModule(t *testing.T) {
	dir, tool := module(t, map[string]string{
		"shop.go":    strings.ReplaceAll(shop, "uuid.New()", "uuid.NewSHA1(uuid.NameSpaceURL, nil)"),
		"pay/pay.go": strings.ReplaceAll(pay, "time.Now\n", "func() time.Time { return time.UnixMilli(3) }\n"),
	})
	out, err := vet(dir, tool)
	require.NoError(t, err, out)
	require.Empty(t, out)
}

// module writes a module that needs no network, and builds the tool machinevet.
func module(t *testing.T, files map[string]string) (dir, tool string) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir = t.TempDir()
	tool = filepath.Join(dir, "machinevet")
	out, err := exec.Command("go", "build", "-o", tool, ".").CombinedOutput()
	require.NoError(t, err, string(out))

	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	files["go.sum"] = string(sums)
	files["go.mod"] = `module example.com/shop

go 1.26

require (
	github.com/google/uuid v1.6.0
	github.com/sluiceflow/sluice v0.0.0
)

replace github.com/sluiceflow/sluice => ` + root + "\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir, tool
}

// vet returns the findings of go vet, without the names of the packages.
func vet(dir, tool string) (string, error) {
	cmd := exec.Command("go", "vet", "-vettool="+tool, "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS=-buildvcs=false -mod=mod")
	out, err := cmd.CombinedOutput()
	var lines []string
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, ""), err
}
