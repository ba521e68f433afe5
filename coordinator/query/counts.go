package query

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Bounds of a count: the runs that it counts, and the runs that it reads to find them.
const (
	countMax       = 10_000
	countLookedMax = 20_000
)

// Counts counts the runs that a query selects, by their properties.
type Counts struct {
	Status map[string]Tally `json:"status"` // by status
	Waits  map[string]Tally `json:"waits"`  // of those that wait, by kind of wait
}

// Tally is a number of runs.
type Tally struct {
	Count int  `json:"count"`          // exact unless More
	More  bool `json:"more,omitempty"` // there may be more
}

// Count counts the runs that a query selects, by status and by kind of wait. Its errors come from Parse and from the store.
func Count(ctx context.Context, store Lister, text string, now time.Time) (Counts, error) {
	counts := Counts{Status: map[string]Tally{}, Waits: map[string]Tally{}}
	if _, err := Parse(text, now); err != nil {
		return counts, err
	}
	for key, into := range map[string]map[string]Tally{"status": counts.Status, "waits": counts.Waits} {
		for _, value := range keys[key].values {
			q, err := Parse(strings.TrimSpace(text+" "+key+":"+value), now)
			if err != nil {
				return counts, err
			}
			if into[value], err = q.count(ctx, store); err != nil {
				return counts, err
			}
		}
	}
	return counts, nil
}

func (q *Query) count(ctx context.Context, store Lister) (n Tally, err error) {
	if slices.ContainsFunc(q.terms, func(t term) bool { return t.key == "status" && slices.Contains(t.values, "damaged") }) {
		return n, nil // no index has them, so the search would read all runs
	}
	for row, err := range q.Each(ctx, store, "") {
		if err != nil {
			return n, err
		}
		if n.Count == countMax || row.Looked >= countLookedMax {
			n.More = true
			break
		}
		n.Count++
	}
	return n, nil
}
