package main

import (
	"time"

	"github.com/sluiceflow/sluice/template/flow/machine"
)

// Stock is the state of the stock of one item.
type Stock struct {
	Left   int64 `json:"left"`
	Coming bool  `json:"coming"` // a refill has been asked for
}

// OrderPaid and OrderRefunded are messages of orders.
type (
	OrderPaid struct {
		OrderID string `json:"order_id"`
		Item    string `json:"item"`
		Cents   uint64 `json:"cents"`
	}
	OrderRefunded OrderPaid
)

// Refill and Refilled are the params and the receipt of the effect refill.
type (
	Refill struct {
		Item  string `json:"item"`
		Count uint64 `json:"count"`
	}
	Refilled struct {
		Count uint64 `json:"count"`
	}
)

// StockEvent is an event of the stock. Exactly one field is set.
type StockEvent struct {
	Paid     *OrderPaid
	Refunded *OrderRefunded
	Refilled *machine.Receipt[Refilled] `effect:"refill"`
	Again    *machine.Fired             `timer:"again"`
}

var refill = machine.Effect[Refill, Refilled]("refill")

// stock does the same as the rules of the machine stock in shop.yaml.
var stock = machine.Define("stock", "1", stepStock, machine.Emits(refill, machine.Timer))

func stepStock(a *machine.Activation[string], s *Stock, e StockEvent) (*Stock, error) {
	if s == nil {
		s = &Stock{Left: 3}
	}
	switch {
	case e.Paid != nil:
		s.Left--
		if s.Left <= 1 && !s.Coming {
			s.Coming = true
			refill.Emit(a, Refill{Item: a.Key(), Count: 10})
		}
	case e.Refunded != nil && e.Refunded.Cents > 0:
		s.Left++
	case e.Refilled != nil && e.Refilled.Status == machine.OK:
		s.Left += int64(e.Refilled.Payload.Count)
		s.Coming = false
	case e.Refilled != nil:
		a.After("again", time.Hour)
	case e.Again != nil:
		refill.Emit(a, Refill{Item: a.Key(), Count: 10})
	default:
		a.Ignore()
	}
	return s, nil
}
