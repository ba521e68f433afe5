package coordinator

import (
	"log/slog"
	"time"

	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// Limits bound what one run, with the child runs below it, may grow to.
type Limits = limits.Limits

// ActorMax is how many bytes the name has at most of who starts a run, or steps in.
const ActorMax = limits.ActorMax

// DefaultLimits are the limits of a Config that says nothing else.
func DefaultLimits() Limits { return limits.Default() }

// Config is what an engine is made with. The zero Config is usable.
type Config struct {
	// Operations are what steps call, besides what their document binds. Two of one name are an error.
	Operations []Operation

	// Workflows that may have runs in the store and use Go functions: a run finds those of its own definition alone, by its
	// hash. A workflow that is started is known by that.
	Workflows []*template.Workflow

	// Loaded is what registry.Load has returned: documents that it has read are not read and compiled again. It belongs to one
	// engine, and its PassEnv is that of Load. Default: none.
	Loaded *registry.Registry

	// Directory is who can be targeted, in place of what documents say. Default: the document's.
	Directory directory.Directory

	// PassEnv names the variables of this process's environment that programs of command bindings get besides PATH, HOME, LANG
	// and TMPDIR, as far as they are set. Default: none.
	PassEnv []string

	// IdleTimeout is how long a run stays in memory with nothing to do. Default: 10 s.
	IdleTimeout time.Duration

	// SecretTimeout is how long the answer of a server may take that a playbook's keychain asks for a secret. Default: 30 s.
	SecretTimeout time.Duration

	// CallsMax bounds the calls of the whole process that are under way, those to the participants of a fan-out included. A
	// step beyond it stays ready; a fan-out is requested when there is room for one participant, and the others wait. Calls to
	// decision sources have a bound of their own of the same size. `sleep`, `wait`, child runs and pure operations do not
	// count. Default: no limit.
	CallsMax int

	// ProgramsMax bounds the programs of command bindings that the process runs at a time, each of which costs it a thread and the
	// machine a process. A step beyond it stays ready, as with CallsMax; programs that are decision sources have a bound of their
	// own of the same size. Default: 256. Negative: no limit.
	ProgramsMax int

	// OnBlocked is what a playbook does when only tokens are left that its gates hold back, where the playbook does not say.
	// Default: it waits for its context to be patched.
	OnBlocked template.OnBlocked

	// PickUp says which of the unfinished runs in the store New goes on with; the engine also goes on with those it
	// starts, and with their child runs. The others are left alone: they can be read, and what somebody wishes for one
	// is journaled for the engine that will go on with it. Default: all.
	PickUp func(journal.Head) bool

	// Limits keep one run from taking the whole process. Default: see Limits.
	Limits Limits

	// Logger is told what nobody is waiting to hear. A line whose handler panics goes to standard error. Default:
	// slog.Default().
	Logger *slog.Logger
}

// What Config has where it does not say.
const (
	idleTime   = 10 * time.Second
	secretTime = 30 * time.Second
)
