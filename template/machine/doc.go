// Package machine reads documents of kind World: deterministic state machines that have many cells each, take events one at a
// time, and ask for effects.
//
//	kind: World
//	name: shop
//	types:
//	  Placed: {record: {id: text, cents: nat}}
//	effects:
//	  pay: {params: {record: {order: text, cents: nat}}, receipt: {record: {txn: text}}}
//	machines:
//	  order:
//	    key: text
//	    state: {record: {status: text, txn: option<text>}}
//	    event: [Placed]
//	    emits: [pay]
//	    rules:
//	      - {event: Placed, when: "{{ state == null }}", set: {status: paying}, emit: [{effect: pay, params: {order: "{{ key }}", cents: "{{ event.cents }}"}}]}
//	      - {event: pay, when: '{{ event.status == "ok" }}', set: {status: paid, txn: "{{ event.payload.txn }}"}, complete: true}
//	routing: {subscriptions: [{event: Placed, machine: order, key_field: id}]}
//
//	document ──ParseNode──▶ *World                 Route: a message ──▶ its deliveries      Step: one activation ──▶ its Output
//	                  └───▶ *template.Workflow     its calls: one step for each effect ──template.Check──▶ ──plan.Compile──▶
//	                                               row i calls Effects[i]
//
// # Keys
//
// This document has most keys; comments have the default, or the purpose of the key:
//
//	kind: World
//	name: keys
//	version: "1"                             # for people
//	max_concurrency: 100                     # calls at once; left out: no limit
//	operations:                              # as in a workflow
//	  warehouse.ship: {http: {method: POST, url: "http://127.0.0.1:9001/ship", body: "{{ input }}"}}
//	keychain:                                # secrets that bindings of http and command read; left out: none
//	  - {name: bank, kind: env, data: {token: BANK_TOKEN}}
//	directory:                               # as in a workflow; left out: that of the program
//	  participants: {hill: {}, dale: {}}
//	  capabilities: {shipping: [{participant: hill}, {participant: dale}]}
//	types:                                   # see package schema
//	  Placed: {record: {order_id: text, item: text, cents: nat, tags: set<text>, memo: option<text>}}
//	  Cancelled: {record: {order_id: text}}
//	  Paid: {record: {order_id: text, cents: nat}}
//	  Order: {record: {status: text, item: text, cents: nat, txn: option<text>}}
//	  Remark: {record: {text: text}}
//	effects:                                 # that machines can ask for; timers need no declaration
//	  pay:
//	    params: {record: {order: text, cents: nat}}
//	    receipt: {record: {txn: text}}
//	    http: {method: POST, url: "http://127.0.0.1:9001/pay", headers: {X-Token: "{{ keychain.bank.token }}"}, body: "{{ input }}"} # or another binding; input: the params
//	    payload: "{{ output }}"              # the receipt's payload, from the call's output: all of it
//	    timing: {timeout: PT10S, retry: {max_attempts: 3, backoff: PT1S}} # not on_timeout: skip
//	    max_concurrency: 8                   # calls at once, over all cells; left out: no limit
//	    idempotent: false                    # a call that a crash interrupts fails with interrupted; true: it is made again
//	  ship:
//	    params: {record: {order: text, item: text}}
//	    receipt: {record: {parcel: text}}
//	    operation: warehouse.ship            # left out: the operation of the effect's name
//	    target: {resolve: capability, capability_id: shipping}
//	    fan_in: {policy: any_one}
//	    fulfillment: {policy: output_match, result_match: {path: /done, fulfilled_values: [true]}}
//	machines:
//	  order:
//	    key: text                            # left out: one cell, addressed by the machine's name
//	    state: Order
//	    event: [Placed, Cancelled, Rejected, Frame] # or one record type, or a variant whose arms name types
//	    emits: [pay, ship, timer]            # needed, may be empty
//	    lifecycle: process                   # ends by complete; entity: completed whenever nothing is open
//	    ttl: P30D                            # a cell with nothing open is deleted so long after its last activity; left out: never
//	    indexes: {status: "{{ state.status }}"} # by which cells are found
//	    annotations: Remark                  # type of notes; left out: there are none
//	    context: false                       # true: the step takes a context too
//	    migrate: {set: {txn: null}, remove: [note]} # how a state of the previous version is made fit
//	    rules:
//	      - event: Placed
//	        when: "{{ state == null }}"      # a guard; left out: always
//	        set: {status: paying, item: "{{ event.item }}", cents: "{{ event.cents }}"} # or an expression for the fields
//	        emit:
//	          - {effect: pay, params: {order: "{{ key }}", cents: "{{ event.cents }}"}, issuer: card, key: "{{ key }}-1"}
//	          - {timer: deadline, for: PT30M}
//	          - {timer: reminder, until: "2027-01-31T12:00:00Z"}
//	        note: {text: "placed for {{ event.cents }}"}
//	      - event: pay.card                  # the receipt of an emission with that issuer; pay: of any
//	        when: '{{ event.status == "ok" }}'
//	        set: {status: shipping, txn: "{{ event.payload.txn }}"}
//	        raise: [{event: Paid, value: {order_id: "{{ key }}", cents: "{{ state.cents }}"}}]
//	        emit: [{effect: ship, params: {order: "{{ key }}", item: "{{ state.item }}"}}]
//	        drop: [timer.reminder]           # open intents of this cell, before new ones are emitted
//	      - {event: ship, set: {status: shipped}, complete: true}
//	      - {event: timer.deadline, fail: {code: too_late, message: "nothing came of {{ key }}"}}
//	      - {event: Cancelled, delete: true} # the cell's state goes
//	      - {event: Rejected, set: {status: "{{ event.error_code }}"}} # an answer that does not fit its effect
//	      - {event: Frame}                   # a report of a call under way; Receipt: any receipt
//	  ledger:
//	    state: {record: {cents: nat}}
//	    event: Paid
//	    emits: []
//	    go: {name: ledger, version: "3"}     # registered by the program, in place of rules
//	routing:
//	  subscriptions:                         # in this order
//	    - {event: Placed, machine: order, key_field: order_id} # a dotted path; $value.FIELD: of every arm of a variant
//	    - {event: Cancelled, machine: order, key_field: order_id}
//	    - {event: Paid, machine: ledger}
//
// These are other spellings of keys:
//
//	schemas      types           key_schema        key       workflow, op of a subscription     machine
//	workflows    machines        effects_emitted   emits     context: sys/WorkflowContext@1     context: true
//
// # Rules
//
// The first rule that is about the event and whose guard holds is taken. If there is none, the event is ignored. A rule without
// consequences takes the event and changes nothing. The fields of set are computed from the state before and laid over it, or over {} if
// there is none; a state that is neither a record nor a map is replaced by the value of set.
//
// Expressions are those of package expr. They see:
//
//	everywhere            event key cell now           cell is {machine, key}, now RFC 3339
//	when set fail         state                        null if there is none
//	raise emit note       state was                    the new state, and the one before
//	indexes               state key
//	migrate               state
//	payload of an effect  output                       of its call
//	bindings              input participant attempt run    keychain, too, of http and command
//
// An event is
//
//	a message             its payload; of an arm of a variant, the arm's value; of a rule that names the variant, {$tag, $value}
//	a receipt             {effect, issuer, status, payload, error, intent, emitted_at_seq}, status ok, error or timeout; signature, if told
//	a timer               a receipt of the effect timer, whose issuer is the timer's name and whose payload {name, due}
//	a rejection           a receipt with error_code, error_message, payload_hash and payload_size in place of payload and error
//
// # Failures
//
// An activation takes effect as a whole or, with a Failure, not at all. These are the codes, besides those that rules
// choose:
//
//	effect_undeclared   it emits an effect that the machine does not declare
//	params_invalid      params of an effect do not fit
//	output_invalid      a state, message, timer or note does not fit
//	limit_exceeded      more than 64 effects and timers, 256 messages, 1 MiB in all, or the work of expressions
//	step_failed         an expression fails, or a step in Go returns an error; machine.Fail sets another code
//	step_panicked       a step in Go panics, or ends its goroutine
//	step_impure         the result of a step in Go differs when it runs a second time
//	activation_timeout  a step in Go takes too long
//
// # Identity
//
// Document returns the canonical form, in which both spellings of a world are the same. Effects and machines have hashes that
// bind the declared types that they use. A cell is found by its Address; Request.Identities names an effect that was asked
// for.
//
// # Contracts
//
// A World is immutable and safe for concurrent use. Route and Step are pure functions: for the same input they return the same output or
// the same error, and they change no input. Results may share memory with the input, and neither may be changed. An activation of a small
// rule over a state of 100 bytes takes 2 µs, and 8 µs with decoding the state and encoding the new one (BenchmarkStep,
// a busy 2-core virtual machine).
package machine
