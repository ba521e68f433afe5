package coordinator

import (
	"log/slog"
	"time"

	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// Limits bounds one run together with its child runs.
type Limits = limits.Limits

// ActorMax is the maximum length in bytes of an actor's name.
const ActorMax = limits.ActorMax

// DefaultLimits returns the limits of a zero Config.
func DefaultLimits() Limits { return limits.Default() }

// Config configures an engine. The zero Config is usable.
type Config struct {
	// Operations are the operations that steps call, besides those that their document binds. Two with the same name are an
	// error.
	Operations []Operation

	// Workflows lists workflows that use Go functions and may have runs in the store. A run uses the functions of its own
	// definition only, found by its hash. Workflows that are started need not be listed.
	Workflows []*template.Workflow

	// Machines are the machines in Go that cells of worlds use, besides those that the worlds bring along: see package machine. A
	// cell whose machine the program does not have queues its items. Two of one name and version are an error.
	Machines []*registry.Machine

	// ActivationTimeout bounds the time of one step of a machine in Go. Then its cell fails with activation_timeout, and the
	// step is abandoned: nothing ends its goroutine, and nothing bounds its memory. Default: 1 s.
	ActivationTimeout time.Duration

	// Verifier judges the answers to effects of worlds before they are taken; it belongs to the caller. Default: all are taken.
	Verifier operation.Verifier

	// Workers assigns the operations that are neither bound nor registered to workers: programs elsewhere that take calls and return
	// answers, see Engine.Workers. Workflows with such operations are then accepted, and their steps stay ready until a worker takes the
	// call. It is the key, of workers.ReadKey or workers.NewKey, that signs the leases of workers: with the same key they can deliver their
	// answers to the next engine on the store. Default: none; an operation without an implementation is then an error.
	Workers []byte

	// Loaded is the result of registry.Load: the documents it holds are not read and compiled again. It belongs to one engine,
	// and its PassEnv is the one passed to Load. Default: none.
	Loaded *registry.Registry

	// Directory lists the participants that calls can target, in place of the document's directory. Default: the document's.
	Directory directory.Directory

	// PassEnv names the environment variables of this process that programs of command bindings receive, if set, besides PATH,
	// HOME, LANG, TMPDIR and those about their call; see operation.Bind. Default: none.
	PassEnv []string

	// IdleTimeout is the time for which an idle run stays in memory. Default: 10 s.
	IdleTimeout time.Duration

	// RunsInMemory bounds the runs in memory: beyond it, idle runs leave before IdleTimeout, the longest idle first. Runs with
	// calls under way stay. Default: 1,500. Negative: no limit.
	RunsInMemory int

	// SecretTimeout bounds each request of a playbook's keychain to a server for a secret. Default: 30 s.
	SecretTimeout time.Duration

	// KeepEvents is the minimum number of the newest events of each world that stay in its journal; earlier ones that its last two
	// snapshots have replaced are deleted, except the first. Default: cells.KeepEvents. Negative: all stay.
	KeepEvents int

	// CellsInMemory bounds the cells of each machine of a world that stay in memory though they have not changed since the newest snapshot
	// and wait only for messages and timers. The others are read when they are needed. Default: cells.CellsCached. Negative: none.
	CellsInMemory int

	// CellBytesInMemory bounds the states of these cells, as they are stored. Default: cells.BytesCached. Negative: none.
	CellBytesInMemory int

	// CallsMax bounds the calls in progress in the whole process, including those to the participants of a fan-out. A step
	// beyond it stays ready; a fan-out is requested when there is room for one participant, and the others wait. Calls to
	// decision sources have a separate bound of the same size. `sleep`, `wait`, child runs and pure operations do not count.
	// Default: no limit.
	CallsMax int

	// ProgramsMax bounds the programs of command bindings that run at the same time; each takes a thread of this process and a
	// process of the machine. A step beyond it stays ready, as with CallsMax; programs that are decision sources have a
	// separate bound of the same size. Default: 256. Negative: no limit.
	ProgramsMax int

	// OnBlocked is the action of a playbook when its gates hold all remaining tokens, unless its document sets one. Default: it waits until
	// its context is patched.
	OnBlocked template.OnBlocked

	// PickUp reports whether New goes on with an unfinished run in the store; the engine always goes on with the runs it
	// starts and their child runs. The others can be read, and commands for them are journaled for the engine that will go on
	// with them. Default: all.
	PickUp func(journal.Head) bool

	// NotesOnly makes the engine go on with no run, not even with those that it starts: PickUp is not used, and starts and
	// commands are journaled for the engine that will go on with the run. Default: false.
	NotesOnly bool

	// Limits bounds each run. Default: DefaultLimits.
	Limits Limits

	// Logger receives the messages that no caller waits for. If its handler panics, the line goes to standard error. Default:
	// slog.Default().
	Logger *slog.Logger
}

// idleTime is the default of Config.IdleTimeout.
const idleTime = 10 * time.Second
