// Package petri is place/transition nets: places hold tokens, transitions take tokens from places and put tokens into
// others. A Net is built once, does not change, and can be played and checked. It knows no workflow.
//
//	b := petri.NewBuilder()
//	idle, busy := b.Place("idle", 1), b.Place("busy", 0)
//	b.Transition("start", []int32{idle}, []int32{busy})
//	b.Transition("stop", []int32{busy}, []int32{idle})
//	net, err := b.Build()
//	m := net.Initial()
//	net.Fire(m, 0) // m is now: nothing idle, one busy
//
//	(•) idle ──▶ [start] ──▶ ( ) busy        ( ) idle ──▶ [start] ──▶ (•) busy
//	     ▲                      │       ──▶        ▲                      │
//	     └────────[stop]◀───────┘                  └────────[stop]◀───────┘
//
// # Model
//
// Arcs have weight one, and a transition has at most one arc from and one to a place. The one exception is a join, which
// takes a number of tokens from each of its places at once (Builder.Join). A gate is a transition that may be closed although
// its tokens are there; what closes it is not part of the net, only who can open it (Builder.Gate). A gate therefore fires
// whenever its tokens allow when a net is played: asking whether it is open is for the player.
//
// # Checks
//
// Check finds what is wrong with the structure of a net, without playing it, and shows why:
//
//	unreachable     a transition that can never fire, and the place that never has a token for it
//	endless         a transition after which no end can be reached, and the way into the cycle that keeps it
//	cycle           a cycle without an exit
//	shut            a gate that nothing can open
//	unsatisfiable   a join that takes more tokens than can ever arrive
//
// The structure says what is impossible: a net without problems may still not do what its author wants, but what is reported
// is so in every play of the net. Transitions that compete for a token, and tokens that never meet, are not seen; finding
// those takes exploring the markings, whose number is exponential in the size of a net.
//
// # Contracts
//
// Ids of places and transitions are [0, n) in order of insertion, and that order breaks every tie. A method given another id
// panics, as indexing a slice does. A Net is immutable and safe for concurrent use; a Builder and a Marking belong to one
// goroutine. Nothing here starts a goroutine, reads a clock or depends on the order of a map.
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
