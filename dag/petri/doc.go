// Package petri implements place/transition nets: places hold tokens, transitions take tokens from places and put tokens
// into others. A Net is built once, does not change, and can be played and checked. The package is independent of workflows.
//
//	b := petri.NewBuilder()
//	idle, busy := b.Place("idle", 1), b.Place("busy", 0)
//	b.Transition("start", []int32{idle}, []int32{busy})
//	b.Transition("stop", []int32{busy}, []int32{idle})
//	net, err := b.Build()
//	m := net.Initial()
//	net.Fire(m, 0) // m is now: no token in idle, one in busy
//
//	(•) idle ──▶ [start] ──▶ ( ) busy        ( ) idle ──▶ [start] ──▶ (•) busy
//	     ▲                      │       ──▶        ▲                      │
//	     └────────[stop]◀───────┘                  └────────[stop]◀───────┘
//
// # Model
//
// Arcs have weight one, and a transition has at most one arc from and one to a place. The one exception is a join, which
// takes a number of tokens from each of its places at once (Builder.Join). A gate is a transition that may be closed although
// it is enabled. The net records which transitions can open it (Builder.Gate), not whether it is open: Enabled and Fire treat
// a gate like any other transition, and the caller asks first.
//
// # Checks
//
// Check finds the faults in the structure of a net without playing it. Each Problem has a witness:
//
//	unreachable     a transition that can never fire, and the place that never has a token for it
//	endless         a transition after which no end can be reached, and the path into the cycle that keeps it
//	cycle           a cycle without an exit
//	shut            a gate that nothing can open
//	unsatisfiable   a join that takes more tokens than can ever arrive
//
// A reported problem occurs in every play of the net; a net without problems may still be wrong. Check does not find
// transitions that compete for a token, or tokens that never meet. That requires an exploration of the markings, whose number
// is exponential in the size of a net.
//
// # Errors and bounds
//
// The methods of a Builder record faults, such as a name used twice, an arc to an unknown place or a transition that takes
// nothing; Build returns all of them joined, each wrapping ErrNet, without a net. Fire returns an error that wraps ErrDisabled.
// Token counts and ids are of type int32. Fire does not check for overflow: a place must not get more than 2³¹−1 tokens.
//
// # Contracts
//
// Ids of places and transitions are [0, n) in order of insertion, and that order breaks every tie. A method panics on any other
// id, as indexing a slice does, and on a Marking with fewer entries than the net has places. A Net is immutable and safe for
// concurrent use; slices that it returns must not be changed. A Builder and a Marking belong to one goroutine. The package
// starts no goroutine, reads no clock and does not depend on the order of maps.
//
// # Cost
//
// For a net of n places, transitions and arcs, and j joins, on a 2-core virtual machine:
//
//	Build                O(n)
//	Enabled, Fire        O(arcs of the transition), no allocation: 6 ns for two arcs
//	Check                O(n · (1 + joins that cannot be satisfied)), and O(n) more for each witness of an endless transition;
//	                     0.7 ms for 1,000 rings of three transitions
//
// Source of the model: T. Murata, Petri nets: properties, analysis and applications, 1989.
package petri
