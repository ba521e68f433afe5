package retention

import (
	"strings"
	"sync"
)

// doors keeps commands and deletions of a family apart: a retry may reopen a run that has ended, and a run that goes on must not have
// lost the runs below it. A command that arrives during a deletion waits for its end, and then finds no run; a deletion does not wait for
// commands.
//
//	retry   ──┤ enter ── reopened ── leave ├──
//	delete  ───────┤ shut: no ├───────────────────┤ shut: yes ── children, parent ── open ├──
//	retry   ──────────────────────────────────────────┤ enter: waits ····················├─ not found ─
type doors struct {
	mu   sync.Mutex
	open map[string]*door // by the run above all others of the family
}

type door struct {
	inside int           // commands under way
	shut   chan struct{} // closed when the deletion has ended; nil: there is none
}

// of returns the door of a family. The caller holds mu.
func (d *doors) of(run string) (string, *door) {
	family, _, _ := strings.Cut(run, "/")
	if d.open == nil {
		d.open = map[string]*door{}
	}
	if d.open[family] == nil {
		d.open[family] = &door{}
	}
	return family, d.open[family]
}

// enter waits until no deletion of the family is under way, and prevents further ones until leave is called.
func (d *doors) enter(run string) (leave func()) {
	for {
		d.mu.Lock()
		family, one := d.of(run)
		if one.shut == nil {
			one.inside++
			d.mu.Unlock()
			return func() { d.leave(family, one) }
		}
		shut := one.shut
		d.mu.Unlock()
		<-shut
	}
}

func (d *doors) leave(family string, one *door) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if one.inside--; one.inside == 0 {
		delete(d.open, family)
	}
}

// shut keeps commands out until open is called. It returns false while commands or another deletion are under way.
func (d *doors) shut(run string) (open func(), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	family, one := d.of(run)
	if one.inside > 0 || one.shut != nil {
		return nil, false
	}
	one.shut = make(chan struct{})
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		close(one.shut)
		delete(d.open, family)
	}, true
}
