package sluice_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// The rules of the source as tests: the imports that each package may have, the packages that may use each library, and the restrictions
// of pure packages.

const module = "github.com/sluiceflow/sluice"

// floors lists the packages of this module that each package may import. Every package must be listed, after the packages that it may
// import. Examples may import any package.
var floors = []floor{
	// usable alone
	{"internal/cborhead", nil},
	{"internal/cancelled", nil},
	{"internal/binheap", nil},
	{"internal/goroutines", nil},
	{"internal/pace", nil},
	{"internal/readfile", nil},
	{"internal/usercode", nil},
	{"internal/jsontext", nil},
	{"signals", nil},
	{"dag", nil},
	{"dag/dominikbraun", uses("dag")},
	{"dag/petri", uses("dag")},
	{"dag/layout", nil},
	{"dag/svg", uses("dag", "dag/layout")},

	// workflows
	{"template/value", uses("internal/cborhead", "internal/jsontext", "internal/usercode")},
	{"template/document", uses("internal/jsontext")},
	{"template/expr", uses("template/value")},
	{"template/expr/jinja", uses("template/expr", "template/value")},
	{"template/duration", nil},
	{"template/fields", uses("template/document", "template/duration", "template/expr", "template/value")},
	{"template/schema", uses("template/document", "template/duration", "template/expr", "template/value")},
	{"template", uses("template/document", "template/duration", "template/expr", "template/fields", "template/value")},
	{"template/advice", uses("template", "template/document", "template/expr")},
	{"template/plan", uses("dag", "signals", "template", "template/advice", "template/document", "template/expr")},
	{"template/difference", uses("template/plan", "template/value")},
	{"template/flow", uses("template", "template/document", "template/value")},
	{"template/workflowdef", uses("template", "template/document", "template/value")},
	{"template/secret", uses("template", "template/document", "template/expr", "template/fields", "template/value")},
	{"template/playbook", uses("dag", "dag/petri", "template", "template/document", "template/duration", "template/expr",
		"template/expr/jinja", "template/secret", "template/value")},
	{"template/machine/tagged", uses("internal/cborhead")},
	{"template/machine/address", uses("template/document", "template/schema", "template/value")},
	{"template/machine/literal", uses("template/document", "template/expr", "template/schema", "template/value")},
	{"template/machine", uses("template", "template/machine/address", "template/machine/literal", "template/machine/tagged", "template/document", "template/duration", "template/expr", "template/fields",
		"template/schema", "template/secret", "template/value")},
	{"template/machine/attempt", uses("internal/usercode", "template", "template/expr", "template/machine", "template/value")},
	{"template/schema/gotypes", uses("template/document", "template/duration", "template/schema", "template/value")},
	{"template/flow/machine/entropy", nil},
	{"template/flow/machine", uses("template", "template/document", "template/flow/machine/entropy", "template/machine",
		"template/schema", "template/schema/gotypes", "template/value")},
	{"template/kinds", uses("template", "template/workflowdef", "template/document", "template/expr", "template/machine", "template/playbook")},
	{"template/machine/purity", nil},
	{"template/wfformat", uses("dag", "template", "template/document", "template/duration")},

	{"schema", uses("template/document")},

	// runs
	{"reactive/journal", uses("internal/cborhead", "template/value")},
	{"reactive/journal/journaltest", uses("reactive/journal")},
	{"reactive/journal/archive", uses("reactive/journal", "template/value")},
	{"reactive/journal/memory", uses("reactive/journal", "template/value")},
	{"reactive/journal/disk/shield", nil},
	{"reactive/journal/disk/commitlog", uses("reactive/journal/disk/shield")},
	{"reactive/journal/disk/records", uses("internal/readfile", "reactive/journal", "reactive/journal/disk/shield")},
	{"reactive/journal/disk", uses("internal/readfile", "internal/usercode", "reactive/journal", "reactive/journal/disk/records",
		"reactive/journal/disk/commitlog", "reactive/journal/disk/shield")},
	{"reactive/call", uses("reactive/journal", "template", "template/value")},
	{"reactive/slots", uses("internal/binheap")},
	{"reactive/ledger", uses("internal/binheap", "reactive/call", "reactive/journal", "signals", "template", "template/plan", "template/value")},
	{"reactive/routed", uses("reactive/journal", "reactive/ledger", "template/value")},
	{"reactive/explain", uses("reactive/journal", "reactive/ledger", "template/value")},
	{"reactive/decoded", uses("template/value")},
	{"reactive/cells", uses("reactive/journal")},
	{"reactive", uses("reactive/call", "reactive/cells", "reactive/decoded", "reactive/explain", "reactive/journal", "reactive/ledger", "reactive/routed",
		"reactive/slots", "signals", "template", "template/expr", "template/plan", "template/value")},
	{"reactive/live", uses("reactive", "signals", "template/value")},
	{"reactive/callgraph", uses("dag", "reactive", "reactive/journal", "template/plan")},
	{"reactive/net/callorder", uses("reactive/callgraph")},
	{"reactive/net/gate", uses("signals")},
	{"reactive/net/ended", uses("reactive/journal", "template/expr", "template/playbook", "template/value")},
	{"reactive/net/results", uses("template/playbook", "template/value")},
	{"reactive/net/texts", uses("template/expr", "template/value")},
	{"reactive/net/variables", uses("template/value")},
	{"reactive/net/marks", nil},
	{"reactive/net/queries", uses("reactive", "reactive/net/marks", "reactive/explain", "reactive/journal", "reactive/routed", "template/playbook")},
	{"reactive/net", uses("reactive", "reactive/call", "reactive/callgraph", "reactive/journal", "reactive/net/callorder",
		"reactive/net/gate", "reactive/net/marks", "reactive/net/ended", "reactive/net/queries", "reactive/net/results", "reactive/net/texts", "reactive/net/variables",
		"reactive/explain", "reactive/routed", "signals", "template", "template/expr", "template/expr/jinja", "template/plan",
		"template/playbook", "template/value")},
	{"reactive/world/trie", uses("internal/cborhead")},
	{"reactive/world/turns", nil},
	{"reactive/world/agenda", uses("reactive/world/trie")},
	{"reactive/world/index", uses("reactive/world/trie", "template/expr", "template/machine", "template/schema", "template/value")},
	{"reactive/world/kept", uses("reactive/journal", "reactive/world/index", "reactive/world/trie", "template/machine", "template/value")},
	{"reactive/world/receipt", uses("reactive/journal", "template/value")},
	{"reactive/world/steps", uses("reactive/journal", "template/machine", "template/value")},
	{"reactive/world/recent", uses("reactive/journal", "reactive/world/kept", "template/value")},
	{"reactive/world/aftermath", uses("reactive/explain", "reactive/journal", "reactive/world/steps")},
	{"reactive/world", uses("reactive", "reactive/call", "reactive/cells", "reactive/explain", "reactive/journal", "reactive/ledger",
		"reactive/world/aftermath", "reactive/world/agenda", "reactive/world/index", "reactive/world/kept", "reactive/world/receipt", "reactive/world/recent",
		"reactive/world/steps", "reactive/world/trie", "reactive/world/turns", "template/expr", "template/machine", "template/plan",
		"template/value")},
	{"reactive/bodies", uses("reactive", "reactive/net", "reactive/world", "template/machine", "template/plan", "template/playbook")},
	{"reactive/decide", uses("reactive", "reactive/bodies", "reactive/call", "reactive/cells", "reactive/world", "reactive/journal", "template", "template/document", "template/duration",
		"template/expr", "template/plan", "template/value")},
	{"reactive/shadow", uses("reactive", "reactive/call", "reactive/decide", "reactive/journal", "template/duration", "template/machine", "template/plan", "template/value")},
	{"reactive/inspect", uses("reactive/world", "template/machine", "reactive", "reactive/call", "reactive/decide", "reactive/journal", "reactive/ledger",
		"reactive/explain", "reactive/routed", "template", "template/expr", "template/plan", "template/value")},

	// carrying runs out
	{"coordinator/operation", uses("internal/usercode", "reactive", "reactive/call", "reactive/decide", "reactive/journal",
		"template", "template/document", "template/expr", "template/value")},
	{"coordinator/directory", uses("internal/readfile", "internal/usercode", "reactive/call", "template", "template/document",
		"template/value")},
	{"coordinator/keychain", uses("internal/readfile", "coordinator/operation", "internal/cancelled", "reactive/call", "reactive/journal",
		"template", "template/expr", "template/expr/jinja", "template/secret", "template/value")},
	{"coordinator/registry", uses("template/difference", "coordinator/directory", "coordinator/operation", "internal/readfile", "reactive/decide",
		"reactive/journal", "template",
		"template/document", "template/expr", "template/flow/machine", "template/kinds", "template/machine", "template/plan", "template/value")},
	{"coordinator/clock", nil},
	{"coordinator/calllog", uses("internal/cancelled")},
	{"coordinator/limits", uses("reactive/decide", "template", "template/document", "template/value")},
	{"coordinator/workers/wire", nil},
	{"coordinator/workers", uses("coordinator/keychain", "coordinator/operation", "reactive", "reactive/call", "reactive/decide", "reactive/journal")},
	{"coordinator/workers/door", uses("coordinator/operation", "coordinator/workers", "coordinator/workers/wire", "reactive/call", "template/document", "template/duration", "template/value")},
	{"worker", uses("coordinator/operation", "coordinator/workers/wire", "internal/usercode", "reactive/call", "template/value")},
	{"coordinator/pool", uses("coordinator/calllog", "coordinator/directory", "coordinator/keychain", "coordinator/operation", "coordinator/registry", "coordinator/workers",
		"internal/goroutines", "internal/usercode", "reactive",
		"reactive/call", "reactive/decide", "reactive/journal", "reactive/world", "template/expr", "template/machine",
		"template/machine/attempt", "template/value")},
	{"coordinator/inbox", uses("coordinator/pool", "internal/cancelled", "reactive/decide", "reactive/journal")},
	{"coordinator/residence", uses("internal/cancelled", "reactive/decide")},
	{"coordinator/query", uses("reactive/journal", "template/document", "template/expr")},
	{"coordinator/compiled", uses("internal/usercode", "template", "template/kinds", "template/plan", "template/value")},
	{"coordinator/holds", uses("reactive/decide", "reactive/journal")},
	{"coordinator/pickup", uses("coordinator/holds", "internal/usercode", "reactive/decide", "reactive/journal")},
	{"coordinator/transfer", uses("coordinator/compiled", "coordinator/holds", "coordinator/limits", "coordinator/registry", "internal/usercode", "reactive", "reactive/decide",
		"reactive/journal", "reactive/journal/archive", "reactive/journal/memory", "reactive/world", "reactive/world/kept", "reactive/world/trie", "template/machine", "template/plan")},
	{"coordinator/reader", uses("coordinator/keychain", "reactive/shadow", "template/plan", "reactive/world", "coordinator/registry", "dag", "internal/cancelled", "internal/usercode", "reactive",
		"reactive/callgraph", "reactive/decide", "reactive/explain", "reactive/inspect", "reactive/journal", "reactive/routed",
		"template/value")},
	{"coordinator/starting", uses("coordinator/limits", "coordinator/registry", "internal/cancelled", "reactive/decide", "reactive/journal", "template", "template/machine", "template/value")},
	{"coordinator/parking", uses("coordinator/reader", "coordinator/registry", "internal/usercode", "reactive/decide", "reactive/inspect", "reactive/journal")},
	{"coordinator/retention", uses("internal/pace", "coordinator/limits", "coordinator/query", "reactive", "reactive/journal/archive", "reactive/decide", "reactive/journal")},
	{"coordinator/children", uses("coordinator/keychain", "coordinator/operation", "coordinator/pool", "coordinator/reader", "coordinator/registry",
		"internal/cancelled", "reactive", "reactive/call", "reactive/decide", "reactive/inspect", "reactive/journal", "template", "template/value")},
	{"coordinator/notes", uses("coordinator/children", "coordinator/pool", "coordinator/reader", "coordinator/registry", "reactive", "reactive/decide", "reactive/journal")},
	{"coordinator/commands", uses("coordinator/limits", "coordinator/notes", "coordinator/parking", "coordinator/pickup", "coordinator/reader", "coordinator/starting", "reactive", "reactive/call", "reactive/decide", "reactive/inspect", "reactive/journal", "template/value")},
	{"coordinator/rerun", uses("coordinator/holds", "coordinator/starting", "coordinator/children", "coordinator/registry", "internal/usercode", "reactive", "reactive/call", "reactive/decide",
		"reactive/journal", "reactive/ledger", "reactive/routed", "template", "template/expr", "template/plan", "template/playbook", "template/value")},
	{"coordinator/bulk", uses("template/playbook", "template/machine", "coordinator/commands", "coordinator/limits", "coordinator/query", "coordinator/reader", "coordinator/registry", "coordinator/rerun", "internal/cancelled", "internal/usercode",
		"reactive", "reactive/decide", "reactive/journal", "template", "template/expr", "template/plan", "template/value")},
	{"coordinator/lists", uses("coordinator/bulk", "coordinator/query", "coordinator/reader", "coordinator/registry", "internal/usercode", "reactive/shadow", "template", "template/difference", "coordinator/retention", "coordinator/transfer", "reactive", "reactive/decide", "reactive/explain", "reactive/inspect",
		"reactive/journal", "reactive/routed")},
	{"coordinator/cells", uses("internal/usercode", "template/expr", "reactive", "reactive/decide", "reactive/inspect", "reactive/journal", "reactive/world", "template/value")},
	{"coordinator/tally", nil},
	{"coordinator/closing", uses("internal/cancelled", "internal/usercode")},
	{"coordinator/answering", uses("coordinator/calllog", "coordinator/keychain", "coordinator/operation", "coordinator/workers", "reactive", "reactive/call", "reactive/decide", "reactive/journal")},
	{"coordinator/moving", uses("coordinator/limits", "coordinator/notes", "coordinator/pickup", "coordinator/reader", "coordinator/registry", "reactive", "reactive/decide", "reactive/journal", "reactive/shadow", "template", "template/difference")},
	{"coordinator", uses("coordinator/answering", "coordinator/closing", "coordinator/starting", "coordinator/moving", "coordinator/notes", "coordinator/tally", "coordinator/rerun", "coordinator/bulk", "coordinator/calllog", "coordinator/cells", "coordinator/children", "coordinator/clock", "coordinator/commands", "coordinator/directory", "coordinator/holds", "coordinator/inbox",
		"coordinator/keychain", "coordinator/limits", "coordinator/lists", "coordinator/operation", "coordinator/parking", "coordinator/pickup",
		"coordinator/pool", "coordinator/reader", "coordinator/registry", "coordinator/residence", "coordinator/retention", "coordinator/transfer", "coordinator/workers", "internal/cancelled", "internal/goroutines", "internal/usercode", "reactive",
		"reactive/decide", "reactive/explain", "reactive/inspect", "reactive/journal", "reactive/routed", "template")},
	{"coordinator/observe", uses("coordinator", "reactive", "reactive/live")},
	{"coordinator/parcel", uses("coordinator", "coordinator/limits", "coordinator/registry", "reactive/journal", "template")},
	{"coordinator/catalog", uses("coordinator", "coordinator/parcel", "reactive/journal/archive", "template", "template/document", "template/kinds", "template/plan", "template/secret", "template/value")},
	{"coordinator/doctor", uses("reactive/journal/disk/records", "internal/pace", "coordinator/bulk", "coordinator/compiled", "coordinator/holds", "coordinator/retention", "internal/usercode", "reactive", "reactive/decide", "reactive/journal", "reactive/journal/disk",
		"template/expr", "template/plan")},
	{"coordinator/httpapi/audit", nil},
	{"coordinator/httpapi/jobs", nil},
	{"coordinator/copies", uses("coordinator", "coordinator/doctor", "coordinator/httpapi/audit", "reactive/journal/disk")},
	{"coordinator/find", uses("coordinator", "reactive/journal", "template/expr")},
	{"coordinator/gap", uses("reactive/journal")},
	{"coordinator/versions", uses("coordinator", "coordinator/parcel", "coordinator/registry", "reactive", "reactive/journal", "reactive/shadow", "template/difference")},
	{"coordinator/api/timeline", uses("reactive/journal", "reactive/world/steps")},
	{"coordinator/api/many", uses("coordinator/bulk")},
	{"coordinator/api/awaits", uses("reactive/inspect")},
	{"coordinator/api/expiry", uses("coordinator/query", "coordinator/retention")},
	{"coordinator/repeated", uses("coordinator", "coordinator/cells", "coordinator/parcel", "reactive/decide", "reactive/journal", "template/value")},
	{"coordinator/api", uses("coordinator/api/awaits", "coordinator/api/expiry", "coordinator/repeated", "coordinator/api/many", "coordinator/api/timeline", "coordinator/calllog", "coordinator/find", "coordinator/gap", "coordinator/versions", "coordinator/bulk", "coordinator/registry", "reactive/shadow", "coordinator/transfer", "internal/readfile", "reactive/journal/archive", "coordinator/parcel", "coordinator/query", "coordinator/retention", "reactive", "reactive/world/steps", "coordinator/cells", "reactive/decide", "reactive/inspect", "reactive/world", "coordinator", "dag", "reactive/call", "reactive/callgraph", "reactive/journal", "reactive/routed",
		"template/expr", "template/plan", "template/value")},
	{"coordinator/brief", uses("coordinator/api")},
	{"coordinator/feed", uses("coordinator/brief", "coordinator", "coordinator/api", "coordinator/calllog", "coordinator/find", "coordinator/query", "reactive/journal")},
	{"coordinator/httpapi/tokens", nil},
	{"coordinator/httpapi/idempotency", nil},
	{"coordinator/httpapi/draining", nil},
	{"coordinator/httpapi/names", uses("coordinator/limits")},
	{"coordinator/httpapi/columns", uses("coordinator/api")},
	{"coordinator/httpapi/answers", uses("coordinator/httpapi/names", "coordinator/query", "coordinator/api", "coordinator/catalog", "coordinator/versions")},
	{"coordinator/httpapi/rates", nil},
	{"coordinator/httpapi/cursors", nil},
	{"coordinator/httpapi/forwarded", nil},
	{"coordinator/httpapi/ranges", nil},
	{"coordinator/httpapi/large", uses("coordinator/httpapi/ranges")},
	{"coordinator/httpapi/bodies", uses("template/value")},
	{"coordinator/drawing", uses("coordinator", "dag", "dag/layout", "reactive/decide", "template", "template/plan", "template/playbook")},
	{"coordinator/httpapi/page", nil},
	{"coordinator/httpapi/sessions", nil},
	{"coordinator/httpapi/standing", nil},
	{"coordinator/httpapi/shapes", nil},
	{"coordinator/httpapi/openapi", uses("coordinator/httpapi/shapes")},
	{"coordinator/httpapi/frames", uses("coordinator/api", "coordinator/feed")},
	{"coordinator/httpapi/measures", uses("coordinator/tally", "coordinator/workers", "coordinator", "reactive", "reactive/journal")},
	{"client", uses("coordinator/httpapi/jobs", "coordinator/httpapi/audit", "coordinator", "coordinator/api", "coordinator/calllog", "coordinator/find", "coordinator/parcel", "coordinator/registry", "internal/cancelled", "reactive", "reactive/journal", "reactive/journal/memory", "template", "template/value")},
	{"coordinator/control", uses("coordinator/httpapi/audit", "coordinator", "coordinator/api", "internal/cancelled", "internal/usercode",
		"reactive/journal/disk/records")},
	{"coordinator/folder", uses("client", "coordinator", "coordinator/api", "coordinator/calllog", "coordinator/control", "coordinator/query", "coordinator/versions",
		"internal/cancelled", "reactive/journal", "reactive/journal/disk", "reactive/journal/disk/records")},
	{"coordinator/explore", uses("coordinator", "coordinator/directory", "coordinator/operation", "coordinator/registry",
		"internal/usercode", "reactive", "reactive/call", "reactive/decide", "reactive/inspect", "reactive/journal",
		"reactive/routed", "template", "template/expr", "template/machine", "template/plan", "template/playbook", "template/value")},
	{"coordinator/draft", uses("coordinator/drawing", "coordinator/explore", "template", "template/document", "template/kinds", "template/plan")},
	{"coordinator/httpapi", uses("coordinator/httpapi/forwarded", "coordinator/brief", "coordinator/repeated", "coordinator/draft", "coordinator/drawing", "coordinator/httpapi/page", "coordinator", "coordinator/api", "coordinator/catalog", "coordinator/limits", "coordinator/feed", "coordinator/copies", "coordinator/httpapi/answers", "coordinator/httpapi/columns", "coordinator/httpapi/draining", "coordinator/httpapi/cursors", "coordinator/httpapi/jobs", "coordinator/httpapi/names", "coordinator/httpapi/audit", "coordinator/httpapi/bodies", "coordinator/httpapi/frames", "coordinator/httpapi/idempotency", "coordinator/httpapi/large", "coordinator/httpapi/measures", "coordinator/httpapi/rates", "coordinator/httpapi/sessions", "coordinator/httpapi/standing", "coordinator/httpapi/openapi", "coordinator/parcel", "coordinator/query", "coordinator/versions", "coordinator/workers/door", "coordinator/workers/wire", "internal/usercode",
		"template/document")},
	{"coordinator/scenario/script", uses("reactive/journal", "template/document", "template/duration", "template/expr",
		"template/fields", "template/value")},
	{"coordinator/scenario/program", uses("coordinator/scenario/script", "internal/readfile", "reactive/routed", "template",
		"template/document", "template/expr", "template/kinds", "template/machine", "template/plan", "template/value")},
	{"coordinator/scenario/activation", uses("internal/usercode", "reactive/world", "template/machine", "template/machine/attempt")},
	{"coordinator/scenario/schedule", uses("reactive/decide", "template/value")},
	{"coordinator/scenario/expected", uses("coordinator/scenario/program", "coordinator/scenario/script", "reactive/call",
		"reactive/journal", "reactive/world", "reactive/world/steps", "template/document", "template/expr", "template/machine", "template/value")},
	{"coordinator/scenario", uses("coordinator", "coordinator/directory", "coordinator/operation", "coordinator/registry",
		"coordinator/scenario/activation", "coordinator/scenario/expected", "coordinator/scenario/program", "coordinator/scenario/schedule", "coordinator/scenario/script", "internal/readfile",
		"internal/usercode", "reactive", "reactive/call", "reactive/decide", "reactive/journal", "reactive/routed", "reactive/world",
		"template", "template/document",
		"template/duration", "template/machine", "template/plan", "template/value")},

	// the API and the command
	{".", uses("coordinator", "coordinator/control", "coordinator/folder", "internal/usercode", "reactive/journal/disk", "reactive/journal/memory", "template/flow")},
	{"cmd/sluice/progress", uses("reactive/inspect", "reactive/world", "template/machine", "coordinator", "reactive", "reactive/journal", "template")},
	{"cmd/sluice/cli", uses("reactive/journal/disk/records", "client", "coordinator/find", "coordinator/bulk", "reactive/shadow", "reactive/journal/archive", "coordinator/folder", "reactive/decide", "reactive/inspect", "cmd/sluice/progress", "coordinator", "coordinator/api", "coordinator/parcel", "coordinator/registry", "internal/readfile",
		"reactive/journal", "template", "template/document", "template/expr", "template/kinds", "template/plan",
		"template/value")},
	{"cmd/sluice/view", uses("reactive/inspect", "reactive/world", "cmd/sluice/cli", "cmd/sluice/progress", "coordinator", "coordinator/api", "reactive",
		"reactive/journal", "template", "template/value")},
	{"cmd/sluice/documents", uses("cmd/sluice/cli", "cmd/sluice/progress", "coordinator", "coordinator/explore",
		"coordinator/scenario", "internal/readfile", "schema", "template", "template/document", "template/expr", "template/machine", "template/plan",
		"template/value", "template/wfformat")},
	{"cmd/sluice/moves", uses("reactive/journal/disk/records", "client", "coordinator/copies", "coordinator/httpapi/jobs", "coordinator/httpapi/audit", "cmd/sluice/cli", "cmd/sluice/progress", "coordinator", "coordinator/api", "coordinator/folder", "coordinator/doctor",
		"coordinator/transfer", "internal/readfile", "reactive/journal/disk")},
	{"cmd/sluice/graph", uses("cmd/sluice/cli", "cmd/sluice/progress", "coordinator", "coordinator/api", "coordinator/folder", "dag", "dag/svg", "template",
		"template/machine", "template/plan", "template/playbook")},
	{"cmd/sluice/commands", uses("coordinator/versions", "reactive/inspect", "coordinator/cells", "reactive/decide", "reactive/journal/disk", "cmd/sluice/cli", "cmd/sluice/progress", "coordinator", "coordinator/api", "coordinator/folder", "template/value")},
	{"cmd/sluice/bulk", uses("reactive/journal", "cmd/sluice/cli", "cmd/sluice/progress", "coordinator", "coordinator/api", "coordinator/bulk", "coordinator/folder")},
	{"cmd/sluice/runs", uses("reactive/inspect", "client", "coordinator/copies", "coordinator/httpapi/jobs", "coordinator/httpapi/audit", "coordinator/calllog", "cmd/sluice/cli", "cmd/sluice/progress", "coordinator", "coordinator/api", "coordinator/folder",
		"coordinator/doctor", "reactive",
		"reactive/journal", "reactive/journal/disk", "template/value")},
	{"cmd/sluice/serving", uses("coordinator/copies", "coordinator/httpapi/audit", "coordinator/httpapi/forwarded", "cmd/sluice/cli", "coordinator", "coordinator/catalog", "coordinator/httpapi", "coordinator/httpapi/tokens")},
	{"cmd/sluice/run", uses("client", "coordinator/find", "cmd/sluice/cli", "cmd/sluice/progress", "cmd/sluice/serving", "cmd/sluice/view", "coordinator", "coordinator/api",
		"coordinator/control", "coordinator/folder", "coordinator/directory", "coordinator/httpapi/audit", "coordinator/limits", "coordinator/operation", "coordinator/parcel", "coordinator/retention", "coordinator/workers", "reactive", "reactive/inspect", "reactive/journal",
		"reactive/journal/disk", "reactive/journal/memory", "template", "template/kinds", "template/value")},
	{"cmd/sluice/changes", uses("coordinator/versions", "cmd/sluice/cli", "cmd/sluice/progress", "coordinator", "coordinator/api", "coordinator/folder",
		"reactive/shadow", "template/value")},
	{"cmd/machinevet", uses("template/machine/purity")},
	{"cmd/sluice", uses("cmd/sluice/bulk", "cmd/sluice/changes", "cmd/sluice/cli", "cmd/sluice/commands", "cmd/sluice/documents", "cmd/sluice/graph", "cmd/sluice/moves", "cmd/sluice/run", "cmd/sluice/runs", "cmd/sluice/serving")},
}

type floor struct {
	pkg string
	may []string
}

func uses(list ...string) []string { return list }

// libraries lists the packages that may import each library outside tests: a library that is used in one place can be replaced there.
var libraries = map[string][]string{
	"charm.land/bubbletea/v2":                  {"cmd/sluice/view"},
	"github.com/charmbracelet/colorprofile":    {"cmd/sluice/cli", "cmd/sluice/view"},
	"github.com/charmbracelet/x/ansi":          {"cmd/sluice/progress", "cmd/sluice/view"},
	"github.com/charmbracelet/x/term":          {"cmd/sluice/cli", "cmd/sluice/view"},
	"github.com/cockroachdb/pebble/v2":         {"reactive/journal/disk", "reactive/journal/disk/commitlog", "reactive/journal/disk/records", "reactive/journal/disk/shield"},
	"github.com/dominikbraun/graph":            {"dag/dominikbraun"},
	"github.com/expr-lang/expr":                {"template/expr"},
	"github.com/fxamacker/cbor/v2":             {"template/value"},
	"github.com/goccy/go-yaml":                 {"template/document"},
	"github.com/google/uuid":                   {"coordinator/starting"},
	"github.com/prometheus/client_golang":      {"coordinator/httpapi/measures"},
	"github.com/reactivex/rxgo/v2":             {"coordinator/observe"},
	"github.com/santhosh-tekuri/jsonschema/v6": {"coordinator/registry"},
	"github.com/sosodev/duration":              {"template/duration"},
	"github.com/spf13/cobra":                   {"cmd/sluice", "cmd/sluice/bulk", "cmd/sluice/changes", "cmd/sluice/cli", "cmd/sluice/commands", "cmd/sluice/documents", "cmd/sluice/graph", "cmd/sluice/moves", "cmd/sluice/run", "cmd/sluice/runs", "cmd/sluice/serving"},
	"github.com/spf13/pflag":                   {"cmd/sluice/cli"},
	"github.com/stretchr/testify":              {"reactive/journal/journaltest"},
	"go.uber.org/goleak":                       {"reactive/journal/journaltest"},
	"golang.org/x/sync":                        {"coordinator/httpapi/large", "coordinator/pool"},
	"golang.org/x/sys":                         {"coordinator/operation", "reactive/journal/disk/records"},
	"golang.org/x/text":                        {"coordinator/registry"},
	"golang.org/x/tools":                       {"cmd/machinevet", "template/machine/purity"},
	"pgregory.net/rapid":                       {"reactive/journal/journaltest"},
}

// pure lists the packages without clocks, goroutines, randomness and I/O: their results follow from their inputs, such as a journal.
var pure = []string{
	"signals", "dag", "dag/dominikbraun", "dag/layout", "dag/svg",
	"template", "template/value", "template/document", "template/expr", "template/plan", "template/flow",
	"template/workflowdef", "template/kinds", "template/wfformat", "template/playbook", "template/secret", "template/expr/jinja",
	"template/advice", "template/duration", "template/fields", "template/schema", "template/machine", "internal/cborhead", "internal/jsontext", "template/machine/purity", "dag/petri", "internal/binheap",
	"reactive", "reactive/call", "reactive/cells", "reactive/callgraph", "reactive/live", "reactive/ledger", "reactive/slots", "reactive/journal",
	"reactive/net", "reactive/net/callorder", "reactive/net/gate", "reactive/net/marks", "reactive/net/ended", "reactive/net/queries", "reactive/net/results", "reactive/net/texts", "reactive/net/variables",
	"reactive/decoded", "reactive/world", "reactive/world/aftermath", "reactive/world/agenda", "reactive/world/index", "reactive/world/kept", "reactive/world/receipt", "reactive/world/recent", "reactive/world/steps", "reactive/world/turns", "reactive/bodies", "reactive/decide", "reactive/explain", "reactive/inspect", "reactive/routed", "coordinator/scenario/script",
	"reactive/world/trie", "template/schema/gotypes", "template/flow/machine", "template/machine/address", "template/machine/attempt", "template/machine/literal", "template/machine/tagged",
	"coordinator/query", "template/difference", "reactive/shadow",
}

// pkg is the output of `go list` for a package of this module.
type pkg struct {
	ImportPath, Name, Dir            string
	Imports, GoFiles, IgnoredGoFiles []string
	TestGoFiles, XTestGoFiles        []string
}

func (p pkg) path() string { return within(p.ImportPath) }

// ours returns the path of a package within this module, and reports whether the package belongs to the module.
func ours(importPath string) (string, bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

func within(importPath string) string {
	p, _ := ours(importPath)
	return p
}

var packages = sync.OnceValues(func() (list []pkg, err error) {
	out, err := goList("-json=ImportPath,Name,Dir,Imports,GoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles", "./...")
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
})

func goList(args ...string) ([]byte, error) {
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd.Output()
}

func house(t *testing.T) []pkg {
	if testing.Short() {
		t.Skip("the source says the same to short tests")
	}
	list, err := packages()
	require.NoError(t, err)
	require.NotEmpty(t, list)
	return list
}

func TestPackagesImportOnlyWhatTheirFloorAllows(t *testing.T) {
	for _, p := range house(t) {
		if strings.HasPrefix(p.path(), "examples/") {
			continue
		}
		i := slices.IndexFunc(floors, func(f floor) bool { return f.pkg == p.path() })
		if i < 0 {
			t.Errorf("%s has no floor", p.path())
			continue
		}
		for _, imported := range p.Imports {
			if name, ok := ours(imported); ok && !slices.Contains(floors[i].may, name) {
				t.Errorf("%s must not import %s", p.path(), name)
			}
		}
	}
}

// The tables have only existing packages and used permissions: an unused permission would hide the next import.
func TestNoRuleIsForNothing(t *testing.T) {
	imports := map[string]map[string]bool{}
	for _, s := range sources(t, false) {
		of := imports[s.pkg.path()]
		if of == nil {
			of = map[string]bool{}
			imports[s.pkg.path()] = of
		}
		for _, spec := range s.file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			of[within(imported)] = true
			for library := range libraries {
				of[library] = of[library] || imported == library || strings.HasPrefix(imported, library+"/")
			}
		}
	}
	for _, f := range floors {
		if imports[f.pkg] == nil {
			t.Errorf("floors: there is no package %s", f.pkg)
		}
		for _, name := range f.may {
			if !imports[f.pkg][name] {
				t.Errorf("floors: %s does not import %s", f.pkg, name)
			}
		}
	}
	for library, list := range libraries {
		for _, name := range list {
			if !imports[name][library] {
				t.Errorf("libraries: %s does not import %s", name, library)
			}
		}
	}
	for _, name := range slices.Concat(pure, languages) {
		if imports[name] == nil {
			t.Errorf("there is no package %s", name)
		}
	}
}

func TestNoPackageImportsUpwards(t *testing.T) {
	for i, f := range floors {
		for _, later := range floors[i+1:] {
			if slices.Contains(f.may, later.pkg) {
				t.Errorf("%s may import %s, which is listed after it", f.pkg, later.pkg)
			}
		}
	}
}

func TestEachLibraryStaysInItsPlace(t *testing.T) {
	for _, p := range house(t) {
		for _, imported := range p.Imports {
			first, _, _ := strings.Cut(imported, "/")
			if _, mine := ours(imported); mine || !strings.Contains(first, ".") {
				continue
			}
			library := ""
			for name := range libraries {
				if imported == name || strings.HasPrefix(imported, name+"/") {
					library = name
				}
			}
			if !slices.Contains(libraries[library], p.path()) {
				t.Errorf("%s must not import %s", p.path(), imported)
			}
		}
	}
}

// Test libraries would slow down the start of a program, make it larger, and register flags.
func TestProgramsHoldNoTestLibraries(t *testing.T) {
	out, err := goList("-deps", ".", "./cmd/...")
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	require.Contains(t, deps, module+"/coordinator")
	for _, dep := range deps {
		for _, unwanted := range []string{"testing", "github.com/stretchr/testify", "pgregory.net/rapid", "go.uber.org/goleak",
			"github.com/rogpeppe/go-internal/testscript", module + "/reactive/journal/journaltest"} {
			if dep == unwanted || strings.HasPrefix(dep, unwanted+"/") {
				t.Errorf("a program holds %s", dep)
			}
		}
	}
}

// Packages template and net are exceptions: the names are standard words, and their importers need neither text/template nor sockets.
func TestPackagesHaveNamesOfTheirOwn(t *testing.T) {
	out, err := goList("std")
	require.NoError(t, err)
	standard := map[string]bool{}
	for _, p := range strings.Fields(string(out)) {
		if !strings.Contains(p, "internal") && !strings.HasPrefix(p, "vendor/") {
			standard[path.Base(p)] = true
		}
	}
	require.True(t, standard["errors"])
	for _, p := range house(t) {
		switch base := path.Base(p.ImportPath); {
		case base == "template", base == "net":
		case slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "type", "types", "manager", "misc", "shared"}, base):
			t.Errorf("%s: the name does not say what it is", p.path())
		case standard[base]:
			t.Errorf("%s: the standard library has a package of that name", p.path())
		}
	}
}

// source is a parsed file of this module.
type source struct {
	pkg  pkg
	name string // path of the file from the root
	file *ast.File
	fset *token.FileSet
}

func (s source) at(n ast.Node) string {
	return s.name + ":" + s.fset.Position(n.Pos()).String()[len(s.fset.Position(n.Pos()).Filename)+1:]
}

func (s source) line(pos token.Pos) int { return s.fset.Position(pos).Line }

// sources parses all Go files, including those for other systems.
func sources(t *testing.T, test bool) (list []source) {
	for _, p := range house(t) {
		for _, name := range slices.Concat(p.GoFiles, p.IgnoredGoFiles, p.TestGoFiles, p.XTestGoFiles) {
			if strings.HasSuffix(name, "_test.go") != test {
				continue
			}
			s := source{pkg: p, name: path.Join(p.path(), name), fset: token.NewFileSet()}
			var err error
			s.file, err = parser.ParseFile(s.fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
			require.NoError(t, err)
			list = append(list, s)
		}
	}
	require.NotEmpty(t, list)
	return list
}

// planted returns a source of a package that does not exist, for tests of the rules themselves.
func planted(t *testing.T, pkgPath, text string) source {
	s := source{pkg: pkg{ImportPath: module + "/" + pkgPath}, name: pkgPath + "/planted.go", fset: token.NewFileSet()}
	var err error
	s.file, err = parser.ParseFile(s.fset, s.name, text, parser.ParseComments)
	require.NoError(t, err)
	return s
}

// selects reports whether n is a use of pkg.name, as in time.Now.
func selects(n ast.Node, pkg string, names ...string) bool {
	s, ok := n.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg && slices.Contains(names, s.Sel.Name)
}

// calm lists the packages of the standard library with results that depend only on their inputs; unsteady has the exceptions.
var calm = strings.Fields(`bufio bytes cmp container/heap context crypto/sha256 encoding encoding/base64 encoding/binary encoding/hex
	encoding/json encoding/xml errors fmt go/ast go/constant go/token go/types hash hash/fnv html io iter maps math math/big math/bits
	net/url path reflect regexp regexp/syntax slices sort strconv strings time unicode unicode/utf16 unicode/utf8`)

// stirred holds the other imports and statements of pure packages, by package and import, or by file and statement. The text is the reason
// that the results of the package still depend only on its inputs.
var stirred = map[string]string{
	"dag hash/maphash":                                    "the order of a table that nobody sees",
	"signals runtime":                                     "recover tells a panic from Goexit, and errors name a function",
	"signals runtime/debug":                               "the stack of a panic, for people",
	"template/flow runtime":                               "errors name the line that built a step",
	"signals sync":                                        "values that other goroutines post",
	"signals/post.go select":                              "wakes who applies the values that other goroutines post",
	"reactive/journal sync":                               "the sweeps of a store, which its goroutines share",
	"template/flow/machine sync":                          "what goroutines that a step has left behind still ask",
	"template/value sync":                                 "what is known about Go types",
	"template/machine/purity path/filepath":               "the base of a name",
	"template/flow/machine template/flow/machine/entropy": "random numbers that follow from a seed",
	"template/value internal/usercode":                    "methods of the program, which may end their goroutine, run on one of their own",
	"template/machine/attempt internal/usercode":          "steps of the program, which may end their goroutine, run on one of their own",
}

// unsteady holds the functions of calm packages with results that depend on more than their inputs.
var unsteady = map[string][]string{
	"time":    {"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "NewTimer", "NewTicker", "Tick", "Local", "LoadLocation"},
	"context": {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause", "AfterFunc"},
}

// importsOf returns the paths that a file imports, by their names in the file.
func importsOf(f *ast.File) map[string]string {
	byName := map[string]string{}
	for _, spec := range f.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		name := path.Base(imported)
		if regexp.MustCompile(`^v[0-9]+$`).MatchString(name) {
			name = path.Base(path.Dir(imported))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		byName[name] = imported
	}
	return byName
}

// impurities calls report with each import, statement and expression that a pure package must not have. It ignores imports of other
// modules, which libraries restricts.
func impurities(s source, report func(n ast.Node, what string)) {
	byName := importsOf(s.file)
	for _, spec := range s.file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		name, mine := ours(imported)
		first, _, _ := strings.Cut(imported, "/")
		switch {
		case spec.Name != nil && spec.Name.Name == ".":
			report(spec, "imports "+name+" without a name")
		case stirred[s.pkg.path()+" "+name] != "", mine && slices.Contains(pure, name):
		case mine, !strings.Contains(first, ".") && !slices.Contains(calm, imported):
			report(spec, "imports "+name)
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			report(n, "starts a goroutine")
		case *ast.SelectStmt:
			if stirred[s.name+" select"] == "" {
				report(n, "waits for others")
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				report(n, "waits for others")
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(unsteady[byName[x.Name]], n.Sel.Name) {
				report(n, "calls "+byName[x.Name]+"."+n.Sel.Name)
			}
		}
		return true
	})
}

func TestThePureHalfIsPure(t *testing.T) {
	used := map[string]bool{}
	for _, s := range sources(t, false) {
		for _, imported := range s.pkg.Imports {
			used[s.pkg.path()+" "+within(imported)] = true
		}
		used[s.name+" select"] = true
		if slices.Contains(pure, s.pkg.path()) {
			impurities(s, func(n ast.Node, what string) { t.Errorf("%s: a pure package %s", s.at(n), what) })
		}
	}
	for what := range stirred {
		require.True(t, used[what], "%s: there is no such import or file", what)
	}
	var found []string
	impurities(planted(t, "reactive/decide", `package decide
import (
	clock "time"
	. "strings"
	"context"
	"hash/maphash"
	"os/exec"
	"math/rand/v2"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/internal/usercode"
)
func f() {
	now := clock.Now
	ctx, _ := context.WithTimeout(ctx, clock.Second)
	<-ctx.Done()
	go f()
	select {}
}
`), func(_ ast.Node, what string) { found = append(found, what) })
	require.Equal(t, []string{"imports strings without a name", "imports hash/maphash", "imports os/exec", "imports math/rand/v2",
		"imports internal/usercode", "calls time.Now", "calls context.WithTimeout", "waits for others", "starts a goroutine", "waits for others"}, found)
}

// Only a turn of the coordinator appends to the journal of a run. Definitions and the rules of retention have their own streams.
func TestOneCallAppendsToRuns(t *testing.T) {
	var places []string
	for _, s := range sources(t, false) {
		if strings.HasPrefix(s.pkg.path(), "reactive/journal") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 5 {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "Append" && !isContent(call.Args[1]) && !selects(call.Args[1], "journal", "RetentionStream") || f.Sel.Name == "AppendParts") {
				places = append(places, s.name)
			}
			return true
		})
	}
	require.Equal(t, []string{"coordinator/loop.go"}, places)
}

// writers holds the packages in which each writer makes its events, and the files of packages with two writers.
var writers = map[journal.Writer][]string{
	journal.Command:  {"coordinator/cells", "coordinator/commands", "coordinator/rerun"},
	journal.Stepper:  {"reactive/decide", "reactive/net/token.go", "reactive/world/activate.go", "reactive/world/fail.go", "reactive/world/freeze.go"},
	journal.Timer:    {"reactive/ledger", "reactive/net", "reactive/world"},
	journal.Registry: {"coordinator/bulk", "coordinator/registry", "coordinator/retention"},
}

// writerIn returns the writer that a source belongs to; "": none.
func writerIn(s source) journal.Writer {
	for _, place := range []string{s.name, s.pkg.path()} {
		for w, list := range writers {
			if slices.Contains(list, place) {
				return w
			}
		}
	}
	return ""
}

// The table of the kinds of events has the writers that make these events in the source. Scenarios and the explorer simulate external
// writers.
func TestEventsAreMadeByTheirWriters(t *testing.T) {
	made := map[string]map[journal.Writer]bool{}
	note := func(s source, typ ast.Expr) {
		sel, ok := typ.(*ast.SelectorExpr)
		if !ok || !selects(sel, "journal", sel.Sel.Name) {
			return
		}
		writer := writerIn(s)
		if made[sel.Sel.Name] == nil {
			made[sel.Sel.Name] = map[journal.Writer]bool{}
		}
		made[sel.Sel.Name][writer] = true
		if writer == "" {
			t.Errorf("%s: no writer of events has this package", s.at(typ))
		}
	}
	for _, s := range sources(t, false) {
		if p := s.pkg.path(); strings.HasPrefix(p, "reactive/journal") || p == "coordinator/scenario" || p == "coordinator/explore" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				for _, e := range n.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok && named(kv.Key, "Type") {
						note(s, kv.Value)
					}
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if sel, ok := to.(*ast.SelectorExpr); ok && sel.Sel.Name == "Type" && len(n.Rhs) == len(n.Lhs) {
						note(s, n.Rhs[i])
					}
				}
			}
			return true
		})
	}
	known := 0
	for n := range 256 {
		typ := journal.Type(n)
		if strings.HasPrefix(typ.String(), "type(") {
			require.Empty(t, typ.Writers())
			continue
		}
		known++
	}
	require.Len(t, kindsOf(t), known, "every kind is in the table")
	for name, typ := range kindsOf(t) {
		wrote := slices.Sorted(maps.Keys(made[name]))
		says := typ.Writers()
		slices.Sort(says)
		require.Equal(t, says, wrote, "%s is written by %v, and the table says %v", name, wrote, says)
	}
}

func named(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// kindsOf returns the constants of journal.Type, by name.
func kindsOf(t *testing.T) map[string]journal.Type {
	all := map[string]journal.Type{}
	for _, s := range sources(t, false) {
		if s.name != "reactive/journal/event.go" {
			continue
		}
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				if v := spec.(*ast.ValueSpec); named(v.Type, "Type") {
					number, err := strconv.Atoi(v.Values[0].(*ast.BasicLit).Value)
					require.NoError(t, err)
					all[v.Names[0].Name] = journal.Type(number)
				}
			}
		}
	}
	return all
}

// The tables of kinds of routing have the same kinds.
func TestTablesOfKindsHaveTheSameKinds(t *testing.T) {
	tables := map[string][]string{"reactive/bodies": nil, "coordinator/bulk": nil, "coordinator/explore": nil, "cmd/sluice/graph": nil}
	for _, s := range sources(t, false) {
		if _, asked := tables[s.pkg.path()]; !asked {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || v.Names[0].Name != "kinds" {
				return true
			}
			for _, line := range v.Values[0].(*ast.CompositeLit).Elts {
				kind := line.(*ast.KeyValueExpr).Key.(*ast.SelectorExpr)
				tables[s.pkg.path()] = append(tables[s.pkg.path()], kind.X.(*ast.Ident).Name+"."+kind.Sel.Name)
			}
			return true
		})
	}
	require.NotEmpty(t, tables["reactive/bodies"])
	for name, kinds := range tables {
		require.ElementsMatch(t, tables["reactive/bodies"], kinds, name)
	}
}

// isContent reports whether an expression is the stream of a definition, of the name of a workflow, of held runs, or of acts on many runs.
func isContent(stream ast.Expr) bool {
	call, ok := stream.(*ast.CallExpr)
	return ok && selects(call.Fun, "journal", "DefinitionStream", "NameStream", "HeldStream", "BulkIndex", "BulkStream")
}

// storeFile matches the names of files of a store, also within texts; streamPrefix matches the beginnings of names of streams.
var (
	storeFile    = regexp.MustCompile(`(^|/)VERSION$|\b(LOCK|COMMIT)\b`)
	streamPrefix = regexp.MustCompile(`^(def/|blob/|#(wf|bulk|held|keep)\b)`)
)

// foreignNames calls report with the texts in a source that are names of the files or streams of a store. Package disk has the names of
// the files, package journal has the names of the streams; other packages call their functions.
func foreignNames(s source, report func(at, what string)) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		switch p := s.pkg.path(); {
		case err != nil:
		case storeFile.MatchString(text) && !strings.HasPrefix(p, "reactive/journal/disk"):
			report(s.at(n), "a file of package disk")
		case streamPrefix.MatchString(text) && p != "reactive/journal" && p != "reactive/journal/journaltest":
			report(s.at(n), "a stream of package journal")
		}
		return true
	})
}

func TestOnlyTheJournalNamesFilesAndStreams(t *testing.T) {
	for _, s := range sources(t, false) {
		foreignNames(s, func(at, what string) { t.Errorf("%s: the text names %s", at, what) })
	}
	var found []string
	foreignNames(planted(t, "cmd/planted", `package planted
var texts = []string{"VERSION", "dir/LOCK", "remove COMMIT", "def/" + hash, "#bulk/1", "--to VERSION", "blobs", "#welcome"}
`), func(_, what string) { found = append(found, what) })
	file, stream := "a file of package disk", "a stream of package journal"
	require.Equal(t, []string{file, file, file, stream, stream}, found)
}

// Tests wait for events, or sleep in a synctest bubble, where time is virtual.
func TestTestsDoNotSleep(t *testing.T) {
	for _, s := range sources(t, true) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && selects(call.Fun, "synctest", "Test") {
				return false
			}
			if selects(n, "time", "Sleep") {
				t.Errorf("%s: a test sleeps", s.at(n))
			}
			return true
		})
	}
}

// selfEvident holds methods that the standard library documents.
var selfEvident = []string{"Error", "Unwrap", "Is", "String", "MarshalJSON", "UnmarshalJSON"}

// Every exported name has a comment. Examples are exempt, since they are programs, which are read as a whole.
func TestEverythingExportedIsDocumented(t *testing.T) {
	for _, p := range house(t) {
		if p.Name == "main" && strings.HasPrefix(p.path(), "examples/") || len(p.GoFiles) == 0 {
			continue
		}
		fset, files := token.NewFileSet(), []*ast.File{}
		for _, name := range slices.Concat(p.GoFiles, p.IgnoredGoFiles) {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
			require.NoError(t, err)
			files = append(files, f)
		}
		d, err := doc.NewFromFiles(fset, files, p.ImportPath)
		require.NoError(t, err)
		missing := func(text, name string) {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: %s is not documented", p.path(), name)
			}
		}
		functions := func(list []*doc.Func) {
			for _, f := range list {
				if f.Recv == "" || !slices.Contains(selfEvident, f.Name) {
					missing(f.Doc, f.Recv+" "+f.Name)
				}
			}
		}
		values := func(list []*doc.Value) {
			for _, v := range list {
				for _, spec := range v.Decl.Specs {
					v2 := spec.(*ast.ValueSpec)
					missing(v.Doc+v2.Doc.Text()+v2.Comment.Text(), strings.Join(v.Names, ", "))
				}
			}
		}
		missing(d.Doc, "the package")
		functions(d.Funcs)
		values(slices.Concat(d.Consts, d.Vars))
		for _, typ := range d.Types {
			missing(typ.Doc, typ.Name)
			for _, m := range methodsOf(typ) {
				missing(m.Doc.Text()+m.Comment.Text(), typ.Name+" "+m.Names[0].Name)
			}
			functions(slices.Concat(typ.Funcs, typ.Methods))
			values(slices.Concat(typ.Consts, typ.Vars))
		}
	}
}

// Every exported field is covered by a comment. The comment above a field covers the fields on the lines that follow; the comment of a
// type covers a struct of one line.
func TestExportedFieldsAreDocumented(t *testing.T) {
	for _, s := range sources(t, false) {
		if strings.HasPrefix(s.pkg.path(), "examples/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			typ, ok := n.(*ast.TypeSpec)
			if !ok || !typ.Name.IsExported() {
				return true
			}
			if fields, ok := typ.Type.(*ast.StructType); ok && s.line(fields.Pos()) < s.line(fields.End()) {
				s.undocumented(fields, func(f *ast.Field) { t.Errorf("%s: %s: the field is not documented", s.at(f), typ.Name.Name) })
			}
			return true
		})
	}
}

// undocumented calls report with each exported field without a comment that covers it.
func (s source) undocumented(fields *ast.StructType, report func(*ast.Field)) {
	above, isCovered := 0, false // the last line of the previous field; whether a comment above covers the next field
	for _, f := range fields.Fields.List {
		isCovered = f.Doc.Text() != "" || isCovered && s.line(f.Pos()) == above+1
		above = s.line(f.End())
		if slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) && !isCovered && strings.TrimSpace(f.Comment.Text()) == "" {
			report(f)
		}
	}
}

// methodsOf returns the exported methods of an interface, without the methods of embedded interfaces.
func methodsOf(typ *doc.Type) (list []*ast.Field) {
	for _, spec := range typ.Decl.Specs {
		i, ok := spec.(*ast.TypeSpec).Type.(*ast.InterfaceType)
		if !ok {
			continue
		}
		for _, m := range i.Methods.List {
			if len(m.Names) > 0 && m.Names[0].IsExported() {
				list = append(list, m)
			}
		}
	}
	return list
}

func TestNamesFollowGo(t *testing.T) {
	for _, s := range sources(t, false) {
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Name.IsExported() {
				if rest, ok := strings.CutPrefix(f.Name.Name, "Get"); ok && ast.IsExported(rest) {
					t.Errorf("%s: %s: a getter is named after what it gets", s.at(f), f.Name.Name)
				}
				if strings.Contains(f.Name.Name, "_") {
					t.Errorf("%s: %s: no underscores in names", s.at(f), f.Name.Name)
				}
			}
		}
	}
}

// Bounds of the size of a package and of a type. Languages are exempt.
const (
	packageLinesMax = 3000
	typeMethodsMax  = 60
)

var languages = []string{"template/expr", "template/expr/jinja", "template/playbook"}

// packageLines holds lower bounds of some packages. The coordinator is the engine, its runs and their loops; other packages have every
// other job.
var packageLines = map[string]int{"coordinator": 2200}

func TestPackagesHaveOneJob(t *testing.T) {
	lines := map[string]int{}
	for _, s := range sources(t, false) {
		lines[s.pkg.path()] += s.fset.File(s.file.Pos()).LineCount()
	}
	for name, n := range lines {
		most := cmp.Or(packageLines[name], packageLinesMax)
		if n > most && !slices.Contains(languages, name) {
			t.Errorf("%s has %d lines, at most %d are one job: split it", name, n, most)
		}
	}
	for name := range packageLines {
		require.Contains(t, lines, name)
	}
}

func TestTypesHaveOneJob(t *testing.T) {
	for name, n := range methodsIn(sources(t, false)) {
		if n > typeMethodsMax {
			t.Errorf("%s has %d methods, at most %d are one job: split it", name, n, typeMethodsMax)
		}
	}
	require.Equal(t, map[string]int{"planted.T": 6}, methodsIn([]source{planted(t, "planted", `package planted
func (T) a() {}
func (t *T) b() {}
func (t (T)) c() {}
func (t *(T)) d() {}
func (t *T[K, V]) e() {}
func f(t *T) {}
func newU(t *T) *U { return &U{inTable(t): g} }
func g(t *T) {}
func h(n int, t *T) {}
func i(t *Other) {}
func j(t *other.T) {}
`)}))
}

// methodsIn counts the methods of each type, and the functions that could be methods: their first parameter is a pointer to the type. It
// excludes functions with a name that begins with new, and functions that are used as values, for example in a table.
func methodsIn(list []source) map[string]int {
	methods, could := map[string]int{}, map[string][]string{}
	held := valuesIn(list)
	for _, s := range list {
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if f.Recv != nil {
				methods[s.pkg.path()+"."+receiver(f.Recv.List[0].Type)]++
			} else if first, ok := firstPointer(f); ok && !strings.HasPrefix(strings.ToLower(f.Name.Name), "new") && !held[s.pkg.path()+"."+f.Name.Name] {
				could[s.pkg.path()+"."+first] = append(could[s.pkg.path()+"."+first], f.Name.Name)
			}
		}
	}
	for name, list := range could {
		if methods[name] > 0 {
			methods[name] += len(list)
		}
	}
	return methods
}

// firstPointer returns the name of the type of the package if the first parameter of a function is a pointer to it.
func firstPointer(f *ast.FuncDecl) (name string, ok bool) {
	if f.Type.Params.NumFields() == 0 {
		return "", false
	}
	pointer, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return "", false
	}
	name = receiver(pointer.X)
	return name, name != ""
}

// valuesIn returns the names that are used without a call, by package and name.
func valuesIn(list []source) map[string]bool {
	held := map[string]bool{}
	for _, s := range list {
		called := map[*ast.Ident]bool{}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				called[n.Name] = true
			case *ast.SelectorExpr:
				called[n.Sel] = true
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok {
					called[f] = true
				}
			case *ast.Ident:
				if !called[n] {
					held[s.pkg.path()+"."+n.Name] = true
				}
			}
			return true
		})
	}
	return held
}

// receiver returns the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.ParenExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	}
	return ""
}

// The source has no notes about work to be done.
func TestTheSourceHasNoOpenTasks(t *testing.T) {
	marks := []string{"TO" + "DO", "FIX" + "ME", "XX" + "X"}
	files := 0
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "out" || d.Name() == "bin" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains([]string{".go", ".md", ".yaml", "", ".sh"}, filepath.Ext(name)):
			return nil
		}
		text, err := os.ReadFile(name)
		files++
		for _, mark := range marks {
			if bytes.Contains(text, []byte(mark)) {
				t.Errorf("%s: %s", name, mark)
			}
		}
		return err
	}))
	require.Greater(t, files, 100)
}
