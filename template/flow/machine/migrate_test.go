package machine_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/flow/machine"
)

type oldOrder struct {
	Status string `json:"status"`
	Price  int64  `json:"price"`
}

func fromV2(o *oldOrder) (*Order, error) {
	switch o.Status {
	case "":
		return nil, errors.New("an order has a status")
	case "dropped":
		return nil, nil
	}
	return &Order{Status: o.Status, Cents: 100 * uint(o.Price)}, nil
}

// TestMigrations: a migration is checked when the machine is defined, and tried with a state of the version before.
func TestMigrations(t *testing.T) {
	define := func(options ...machine.Option) *machine.Definition {
		return machine.Define("order", "3", step, append(options, machine.Emits(Pay, machine.Timer), machine.Raises(Paid), machine.Notes[Remark]())...)
	}
	d := define(machine.Migrate("2", fromV2), machine.Migrate("1", func(s *string) (*Order, error) { return &Order{Status: *s}, nil }))
	v, err := machine.Migrated(d, "2", map[string]any{"status": "paid", "price": 2.0})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"status": "paid", "cents": int64(200), "txn": nil}, v)
	v, err = machine.Migrated(d, "1", "paid")
	require.NoError(t, err)
	require.Equal(t, "paid", v.(map[string]any)["status"])
	v, err = machine.Migrated(d, "2", map[string]any{"status": "dropped", "price": 2})
	require.NoError(t, err)
	require.Nil(t, v)
	changing := uint(0)
	impure := define(machine.Migrate("2", func(*oldOrder) (*Order, error) { changing++; return &Order{Cents: changing}, nil }))
	for _, c := range []struct {
		d       *machine.Definition
		version string
		state   any
		want    string
	}{
		{d, "0", nil, `machine "order", version "3", has no migration from version "0": it has those from 1, 2`},
		{define(), "2", nil, `machine "order", version "3", has no migration from version "2": it has none`},
		{d, "2", map[string]any{"status": "", "price": 1}, `machine "order": the migration from version "2": an order has a status`},
		{d, "2", map[string]any{"status": "x"}, `machine "order": the migration from version "2": the state before: /price: is missing`},
		{impure, "2", map[string]any{"status": "x", "price": 1}, `machine "order": the migration from version "2" gave something else the second time`},
	} {
		_, err := machine.Migrated(c.d, c.version, c.state)
		require.EqualError(t, err, c.want)
	}
	for want, option := range map[string]machine.Option{
		`machine "order": Migrate: the version must not be empty`:                                                      machine.Migrate("", fromV2),
		`machine "order": Migrate names version "3", which is its own: it migrates from others`:                        machine.Migrate("3", fromV2),
		`machine "order": Migrate from version "2" has no function`:                                                    machine.Migrate[oldOrder, Order]("2", nil),
		`machine "order": Migrate from version "2" returns *machine_test.Charge, and the state is *machine_test.Order`: machine.Migrate("2", func(*oldOrder) (*Charge, error) { return nil, nil }),
		`machine "order": Migrate from version "2": `:                                                                  machine.Migrate("2", func(*struct{ Weight float64 }) (*Order, error) { return nil, nil }),
	} {
		require.Contains(t, refusalOf(func() { define(option) }), want)
	}
	require.Contains(t, refusalOf(func() { define(machine.Migrate("2", fromV2), machine.Migrate("2", fromV2)) }), `Migrate names version "2" twice`)
	require.Contains(t, refusalOf(func() {
		define(machine.Migrate("2", func(*struct{ Weight float64 }) (*Order, error) { return nil, nil }))
	}), "Weight")

	keys := machine.Keys{"machines": map[string]any{"order": map[string]any{"migrate": map[string]any{"remove": []any{"price"}}}}}
	sub := machine.Subscribe("OrderPlaced", d, "order_id")
	_, err = machine.NewWorld("shop", d, sub, keys)
	require.ErrorContains(t, err, "both have migrate: leave it out of the document, or leave Migrate out of the definition")
	plain, err := machine.NewWorld("shop", define(), sub, keys)
	require.NoError(t, err)
	require.NotNil(t, plain)
	with, err := machine.NewWorld("shop", d, sub)
	require.NoError(t, err)
	without, err := machine.NewWorld("shop", define(), machine.Subscribe("OrderPlaced", d, "order_id"))
	require.NoError(t, err)
	require.Equal(t, without.Document(), with.Document(), "code, migrations too, is no part of the document")
}

// refusalOf returns the message with which a definition panics.
func refusalOf(define func()) (message string) {
	defer func() { message, _ = recover().(string) }()
	define()
	return ""
}
