package playbook

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/secret"
	"github.com/sluiceflow/sluice/template/value"
)

// Kind is the kind of the documents of this package.
const Kind = "Playbook"

// Playbook is a checked document: routed steps, in one form for all spellings, with every expression compiled. It is immutable
// and safe for concurrent use.
//
// Invariants:
//  1. Steps is not empty; every index of a step, task or call site is in range or the -1 that its field allows.
//  2. Names of steps are unique, and so are the labels within a pipeline.
//  3. CallSites[i] is carried out by row i of the plan that the playbook's Workflow compiles to, and CallSites[i].CallSite is i.
//  4. A task's Secrets mark keys of the Keychain.
type Playbook struct {
	Name      string                 // from the metadata
	Jinja     bool                   // written in Jinja's dialect, which reads workload keys and results without a prefix
	Metadata  map[string]value.Value // name included
	Executor  Executor               // settings, with defaults filled in
	Workload  map[string]value.Value // defaults, as written; WorkloadOf evaluates them and merges the run's input over them
	Keychain  []*secret.Entry        // where secrets come from, in the order written
	Steps     []*Step                // in the order written, at least one
	CallSites []*Task                // the tasks that make calls, of all steps, in order
	Warnings  document.Errors        // valid, but probably mistakes; in the order of the document
	Pos       document.Pos           // where it was written

	doc      value.Value // the document that it was read from, in canonical form
	requires []template.Requirement
	steps    map[string]int
	fans     []int32                // numbers of fan-outs, by step; -1: not a fan-out
	joined   []uint64               // a bit for each number: whether a join belongs to the fan-out
	derived  []derived              // the texts with expressions in Workload, in the order in which they are evaluated
	marks    map[string]value.Value // the marks that expressions read from the keychain
	unread   []bool                 // by call site, see findUnread
}

// Executor holds the settings of a run.
type Executor struct {
	Entry          int          // index of the first step to run. Default: 0
	Final          int          // index of the step that runs once at the end; -1: none
	NoNextIsError  bool         // a step with arcs is an error, no_next, if none of them holds
	ImplicitJoin   bool         // steps to which arcs of several steps lead have a Join of all
	Completion     Completion   // Default: FailOnAny
	OnBlocked      OnBlocked    // Default: "", the engine's setting
	FinalFailure   FinalFailure // Default: FinalFails
	MaxConcurrency int          // calls under way; 0: no limit
	MaxStepRuns    int          // Default: 100,000
	MaxJumps       int          // in all pipelines of the run. Default: 250,000
	MaxArgsBytes   int          // of a token's args as canonical JSON. Default: 65,536
	Store          bool         // args above MaxArgsBytes become references into the result store of the run
}

// Completion is the effect of failed branches on a run.
type Completion string

// The completion policies.
const (
	FailOnAny    Completion = "fail_on_any"   // a failed branch fails the run; the others continue
	FailFast     Completion = "fail_fast"     // nothing is started after the first failed branch
	AllowPartial Completion = "allow_partial" // the run is partial if only some branches failed
)

// OnBlocked is the effect on a run that has only denied tokens left.
type OnBlocked = template.OnBlocked

// FinalFailure is the effect of a failed final step on the run.
type FinalFailure string

// The effects of a failed final step.
const (
	FinalFails   FinalFailure = "fail"
	FinalPartial FinalFailure = "partial"
)

// Expr is a value with expressions, compiled in the document's dialect. It is immutable.
type Expr interface {
	// Eval returns the value in env.
	Eval(env expr.Env) (value.Value, error)

	// EvalBool reports whether the value holds in env as a condition of the dialect.
	EvalBool(env expr.Env) (bool, error)

	// Names returns the variables that it reads, each once, in order of appearance. The slice must not be changed.
	Names() []string

	// Keys returns the keys of the variable name that it can read, sorted; all reports that it may read any.
	Keys(name string) (keys []string, all bool)

	// Members is Keys for the value of a variable's key.
	Members(name, key string) (members []string, all bool)
}

// Step is a transition: it takes a token, runs its pipeline, and its arcs put tokens at other steps.
type Step struct {
	Name       string        // unique in the playbook
	Desc       string        // for people
	Index      int           // in Playbook.Steps
	Admit      *Admit        // nil: every token is admitted
	Join       *Join         // nil: every token runs the step
	Timeout    time.Duration // of a step-run, from its start; 0: none
	BestEffort bool          // a failed iteration does not fail the step
	Loop       *Loop         // nil: one iteration
	Input      Expr          // rendered once per step-run, named `input` in expressions; nil: none
	Renders    bool          // Input is also rendered for each iteration of the loop
	Tasks      []*Task       // empty: it completes at once
	Set        []Set         // applied at its end, before the arcs
	Next       *Next         // nil: a leaf
	Pos        document.Pos  // where it was written

	secrets []string // marks of the secrets that Input reads
}

// Admit decides whether a token may run its step.
type Admit struct {
	Rules    []AdmitRule  // the first that holds decides; none: the token is denied
	Discard  bool         // a denied token is dropped; else it stays pending
	Coalesce bool         // pending tokens of the step become one
	Keys     []string     // of ctx that the rules read, sorted; in Jinja's dialect also the names that they read without a prefix
	AllKeys  bool         // they may read any
	Pos      document.Pos // where it was written
}

// AdmitRule is one line of an Admit.
type AdmitRule struct {
	When  Expr         // nil: always (`else`)
	Text  string       // When as written, without braces
	Allow bool         // the token is admitted; else denied
	Pos   document.Pos // where it was written
}

// Join merges the tokens of a fan-out.
type Join struct {
	Mode     JoinMode     // how many branches it waits for
	N        int          // Count: arrivals, at least 1
	FireMiss bool         // fires even if a branch has failed
	Pos      document.Pos // where it was written

	answers fanSet // fan-outs whose tokens it merges: see Playbook.AnswersTo
}

// JoinMode is the number of branches that a join waits for.
type JoinMode string

// The modes of joins.
const (
	JoinAll   JoinMode = "all"
	JoinAny   JoinMode = "any"
	JoinCount JoinMode = "count"
)

// Loop runs a step's pipeline once per item of a list.
type Loop struct {
	In          Expr         // a list
	Iterator    string       // name of the item in expressions: iter.<Iterator>
	Parallel    bool         // iterations run side by side; else one after the other
	MaxInFlight Expr         // iterations at once, of a parallel loop; nil: no limit
	Conflict    Conflict     // Default: ConflictRejected
	Pos         document.Pos // where it was written
}

// Conflict is the action if iterations of a parallel loop write to the same place of ctx: to the same path, or to a path and to
// a path inside it.
type Conflict string

// The actions on conflicting writes.
const (
	ConflictRejected Conflict = "reject_conflict" // a value that differs from the value of another iteration is an error
	ConflictAppends  Conflict = "append"          // values are collected in a list
	ConflictLast     Conflict = "last_wins"
)

// Task is one tool of a pipeline.
type Task struct {
	Label     string        // unique in its pipeline
	Kind      string        // of the tool, as written: the name of an operation, or noop
	CallSite  int           // index into Playbook.CallSites; -1: noop, no call is made
	Step      int           // index of its step
	Index     int           // in its step's Tasks
	Input     Expr          // of the call; nil: null
	Handed    bool          // the call's input is the step's input, with Input merged over it
	Secrets   []string      // marks of the call's secrets, sorted: those that Input and the step's input read
	Set       []Set         // on success, before its rules are evaluated
	Rules     []Rule        // empty: an error fails the step, anything else continues
	HasPolicy bool          // rules were written
	Unmatched bool          // an error fails the step if no rule holds (on_unmatched: fail); else the pipeline continues
	Result    *Result       // storage of its results; nil: they stay in the event
	Call      template.Step // its timing, target, fan-in and fulfillment
	Pos       document.Pos  // where it was written
}

// Result stores a task's large results outside the context.
type Result struct {
	InlineMax int      // size in bytes of canonical JSON above which it is stored. Default: 65,536
	Select    []Select // fields that stay readable in the reference
}

// Select is a field of a result that stays readable.
type Select struct {
	Path []string // keys, beginning at the result
	As   string   // its name beside the reference
}

// Rule is one line of a task's policy.
type Rule struct {
	When     Expr         // nil: always (`else`)
	Text     string       // When as written, without braces
	Set      []Set        // written before Do
	Do       Do           // the consequence
	To       int          // Jump: index of a task, or Previous
	Attempts int          // Retry: in all, the first included. Default: 3
	Backoff  Backoff      // Retry. Default: BackoffNone
	Delay    Expr         // Retry: seconds; nil: 1
	Pos      document.Pos // where it was written
}

// Previous is the target of a jump `to: previous`: the preceding task of the list.
const Previous = -1

// Do is the action of a rule.
type Do string

// The actions of rules.
const (
	Continue Do = "continue" // with the next task
	Retry    Do = "retry"    // the same task again
	Jump     Do = "jump"     // to another task of the pipeline
	Break    Do = "break"    // ends the pipeline, successfully
	Fail     Do = "fail"     // fails the step
)

// Backoff is the growth of the delay from attempt to attempt.
type Backoff string

// The growths of delays.
const (
	BackoffNone        Backoff = "none"        // delay
	BackoffLinear      Backoff = "linear"      // delay × n
	BackoffExponential Backoff = "exponential" // delay × 2^(n−1)
)

// Scope is a scope that a Set writes to.
type Scope uint8

// The scopes that can be written.
const (
	Ctx Scope = iota
	Iter
	StepScope
)

// Set writes a value.
type Set struct {
	Scope Scope        // where it writes
	Path  []string     // at least one key; further keys lead inside the value
	Value Expr         // the new value
	Pos   document.Pos // where it was written
}

// Next routes the token of a step that has ended.
type Next struct {
	Inclusive bool         // follows every arc that holds; else only the first
	Arcs      []Arc        // in the order written
	Pos       document.Pos // where it was written
}

// Arc leads to a step.
type Arc struct {
	To      int          // index of the step
	When    Expr         // nil: always
	Text    string       // When as written, without braces
	Set     []Set        // written when the arc is taken
	Args    Expr         // nil: {}
	Inherit bool         // Args is merged over the incoming args
	Pos     document.Pos // where it was written
}

// Kind returns the kind of the routing.
func (p *Playbook) Kind() string { return Kind }

// Document returns the document that the playbook was read from, without free keys. It is shared and must not be changed.
func (p *Playbook) Document() value.Value { return p.doc }

// Tools returns the kinds of built-in tools, sorted.
func (p *Playbook) Tools() []string {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(binders)), kindNoop, kindWorkbook)))
}

// Requires returns the tools that the playbook requires, without built-in ones.
func (p *Playbook) Requires() []template.Requirement { return p.requires }

// StepNames returns the names of the steps, in the order written.
func (p *Playbook) StepNames() []string {
	names := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		names[i] = s.Name
	}
	return names
}

// CallSite returns the call site of a row of the playbook's plan, by the row's number.
func (p *Playbook) CallSite(number int) template.CallSite {
	task := p.CallSites[number]
	return template.CallSite{Step: p.Steps[task.Step].Name, Task: task.Label, Kind: task.Kind, Input: task.Input, Unread: p.unread[number]}
}

// Lints returns Warnings.
func (p *Playbook) Lints() document.Errors { return p.Warnings }

// OnBlocked returns the policy for a run with only denied tokens left: the playbook's, else usual, else template.BlockedWaits.
func (p *Playbook) OnBlocked(usual OnBlocked) OnBlocked {
	return cmp.Or(p.Executor.OnBlocked, usual, template.BlockedWaits)
}

// StepIndex returns the index of a step by its name. It reports false if there is none.
func (p *Playbook) StepIndex(name string) (int, bool) {
	i, ok := p.steps[name]
	return i, ok
}

// Secrets returns the entries of the keychain.
func (p *Playbook) Secrets() []*secret.Entry { return p.Keychain }

// Marks returns the keychain as expressions see it, with a mark in place of every secret. The result must not be changed.
func (p *Playbook) Marks() map[string]value.Value { return p.marks }
