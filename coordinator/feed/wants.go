package feed

import (
	"fmt"
	"slices"
	"strings"
)

// View selects the changes of a run that an observer receives.
type View string

// The views.
const (
	Steps  View = "steps"  // statuses of steps, and how far maps have come
	Events View = "events" // every event with its effects, exactly once
	Net    View = "net"    // of a playbook: tokens, runs of steps, and writes to the context
)

// Bounds of the maps that an observer opens.
const (
	OpenMax     = 64
	openKeySize = 1 << 10 // bytes
)

// EveryMap opens all maps.
const EveryMap = "*"

// wants selects the parts of a run that an observer gets.
type wants struct {
	view View
	open []string // sorted keys of maps
	all  bool     // all maps are open
	name string   // equal for equal wants
}

// newWants returns the wants of a view with these maps open.
func newWants(view View, open []string) (w wants, err error) {
	if w.view = view; view == "" {
		w.view = Steps
	}
	w.name = string(w.view)
	switch {
	case len(open) == 0:
		return w, nil
	case w.view != Steps:
		return w, fmt.Errorf("%w: in the view %s there are no maps to open", ErrNotShown, w.view)
	case len(open) > OpenMax:
		return w, fmt.Errorf("%w: at most %d maps are opened at once; %s opens all", ErrNotShown, OpenMax, EveryMap)
	}
	for _, key := range open {
		if key == "" || len(key) > openKeySize {
			return w, fmt.Errorf("%w: the key of a map is a name, with [i] for each map around it", ErrNotShown)
		}
	}
	if w.all = slices.Contains(open, EveryMap); w.all {
		w.name += "\n" + EveryMap
		return w, nil
	}
	w.open = slices.Compact(slices.Sorted(slices.Values(open)))
	w.name += "\n" + strings.Join(w.open, "\n")
	return w, nil
}

// shows reports whether parts in an item of a map are shown; "": parts in no map.
func (w *wants) shows(in string) bool {
	if in == "" || w.all {
		return true
	}
	_, open := slices.BinarySearch(w.open, in)
	return open
}

// list returns the elements of a fragment that are shown, with commas between.
func (w *wants) list(data []byte, f *fragment) []byte {
	switch w.view {
	case Events:
		return appendElement(data, f.event)
	case Net:
		return appendElement(data, f.net)
	}
	return w.elements(data, f.steps)
}

// elements appends the shown parts to a list, with commas between.
func (w *wants) elements(data []byte, parts []part) []byte {
	for i := range parts {
		if w.shows(parts[i].in) {
			data = appendElement(data, parts[i].data)
		}
	}
	return data
}

// size returns the approximate number of bytes of a fragment in a frame.
func (w *wants) size(f *fragment) (n int) {
	switch w.view {
	case Events:
		return len(f.event)
	case Net:
		return len(f.net)
	}
	for _, list := range [2][]part{f.steps, f.maps} {
		for i := range list {
			if w.shows(list[i].in) {
				n += len(list[i].data)
			}
		}
	}
	return n
}
