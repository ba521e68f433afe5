// Command shop runs the world of shop.yaml: it places six orders, and follows each to its end.
//
//	go run ./examples/shop           keeps the shop in out/shop; after Ctrl-C or a crash, the same command continues
//	go run ./examples/shop -go       the same with the machine of the stock in Go, in out/shop-go
//	go run ./examples/shop -serve    runs only the services, for a shop that 'sluice run' keeps
//
// The services are a bank, a carrier and a supplier at 127.0.0.1:8411: the bank has a limit, the carrier is busy at times and takes
// no pianos. While the shop runs, and afterwards, another process can read it, and send further orders, through the folder:
//
//	go run ./cmd/sluice runs cells --data out/shop shop
//	go run ./cmd/sluice explain --data out/shop shop 'order[o-3]'
package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow/machine"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/value"
)

//go:embed shop.yaml
var document []byte

// address is the address of the services, in the document too.
const address = "127.0.0.1:8411"

// id is the id of the run, which is the shop: a second start finds the same run.
const id = "shop"

// OrderPlaced is the message that begins an order.
type OrderPlaced struct {
	OrderID string `json:"order_id"`
	Item    string `json:"item"`
	Cents   int    `json:"cents"`
}

// Order is the part of an order's state that the program reads.
type Order struct {
	Status string `json:"status"`
	Item   string `json:"item"`
	Parcel string `json:"parcel"`
}

// orders holds the orders of the example: the third cannot be shipped, the fourth cannot be paid, and the stock of lamps runs low.
var orders = []OrderPlaced{
	{"o-1", "lamp", 1250}, {"o-2", "vase", 4900}, {"o-3", "piano", 90000}, {"o-4", "yacht", 250000000}, {"o-5", "lamp", 1250},
	{"o-6", "lamp", 1250},
}

func main() {
	dir := flag.String("data", "", "the `folder` of the journal (default: out/shop, or out/shop-go)")
	inGo := flag.Bool("go", false, "take the machine of the stock from stock.go")
	only := flag.Bool("serve", false, "run the services, and nothing else")
	at := flag.String("services", "", "the `address` at which another process runs the services (default: this one does)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *only {
		err = serve(ctx, os.Stdout)
	} else {
		err = runShop(ctx, os.Stdout, options{dir: *dir, at: *at, inGo: *inGo})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

// serve keeps the services open until ctx ends.
func serve(ctx context.Context, out io.Writer) error {
	s, err := openServices(out)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "the services are at", address)
	<-ctx.Done()
	return s.close()
}

// options configures the shop.
type options struct {
	dir  string // of the journal; "": the default
	at   string // where another process runs the services; "": this one does
	inGo bool   // use the machine of the stock in stock.go
}

// build returns the world of shop.yaml.
func build(o options) (*template.Workflow, error) {
	text := bytes.ReplaceAll(document, []byte(address), []byte(o.at))
	checked, err := kinds.Load("shop.yaml", text, template.Known{})
	if err != nil || !o.inGo {
		return checked.Workflow, err
	}
	keys, ok := checked.Workflow.Document().(map[string]any)
	if !ok {
		return nil, errors.New("shop.yaml is not a mapping")
	}
	keys = maps.Clone(keys)
	keys["machines"] = without(keys["machines"], "stock", "state", "key", "event", "emits", "rules")
	keys["effects"] = without(keys["effects"], "refill", "params", "receipt")
	return machine.NewWorld(id, stock, machine.Keys(keys))
}

// without returns a copy of an object, without some keys of the object under a name: the definition in Go has them.
func without(object any, name string, gone ...string) map[string]any {
	all, _ := object.(map[string]any)
	one, _ := all[name].(map[string]any)
	all, one = maps.Clone(all), maps.Clone(one)
	for _, key := range gone {
		delete(one, key)
	}
	all[name] = one
	return all
}

// runShop opens the services, unless another process runs them, and the shop, and places the orders. The services come first, because calls
// that a crash has interrupted are repeated as soon as the engine has started.
func runShop(ctx context.Context, out io.Writer, o options) (err error) {
	dir := cmp.Or(o.dir, map[bool]string{false: "out/shop", true: "out/shop-go"}[o.inGo])
	if o.at == "" {
		o.at = address
		s, err := openServices(out)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.close()) }()
	}
	w, err := build(o)
	if err != nil {
		return err
	}
	engine, err := sluice.Open(ctx, dir, coordinator.Config{Workflows: []*template.Workflow{w}})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		err = errors.Join(err, engine.Shutdown(ctx))
	}()
	door, err := control.Serve(dir, engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, door.Close()) }()

	run, err := engine.Start(ctx, w, nil, coordinator.WithID(id))
	if err != nil {
		return err
	}
	err = place(ctx, out, run)
	if ctx.Err() != nil {
		fmt.Fprintf(out, "suspended; to go on, run:\n  go run ./examples/shop -data '%s'\n", dir)
		return nil
	}
	return err
}

// place sends the orders, waits until each one has ended, and shows its outcome. An order that was sent before, by this process or a
// killed one, is taken once, because its number is the id of the message.
func place(ctx context.Context, out io.Writer, run *coordinator.Run) error {
	for _, o := range orders {
		if _, err := run.SendMessage(ctx, cells.Message{Name: "OrderPlaced", Payload: o, ID: o.OrderID}); err != nil {
			return err
		}
	}
	for _, o := range orders {
		cell, err := run.Await(ctx, "order["+o.OrderID+"]", ended)
		if err != nil {
			return err
		}
		if err := show(out, &cell); err != nil {
			return err
		}
	}
	others, err := run.Cells(ctx, func(c *cells.State) bool { return !strings.HasPrefix(c.Address, "order[") }, 0)
	for _, c := range others {
		if err == nil {
			c, err = run.Await(ctx, c.Address, ended) // the supplier may take longer than the orders
		}
		if err == nil {
			var state []byte
			state, err = json.Marshal(c.State)
			fmt.Fprintf(out, "%s %s\n", c.Address, state)
		}
	}
	return err
}

// ended reports whether a cell has nothing left to do, or needs a person.
func ended(c *cells.State) bool { return c.Status == world.Completed || c.Status == world.Failed }

// show prints the end of an order.
func show(out io.Writer, c *cells.State) error {
	if c.Failure != nil {
		_, err := fmt.Fprintf(out, "%s failed: %s: %s\n", c.Address, c.Failure.Code, c.Failure.Message)
		return err
	}
	var o Order
	if err := value.Convert(c.State, &o); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, strings.TrimSpace(fmt.Sprintf("%s %s: %s %s", c.Address, o.Status, o.Item, o.Parcel)))
	return err
}
