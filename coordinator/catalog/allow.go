package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/secret"
)

// Kinds of things that a document may use of the machine that runs it. A document from elsewhere may use only allowed ones.
const (
	Command = "command" // programs, also by a shell
	Env     = "env"     // variables of the environment, in a keychain
	File    = "file"    // contents of files, in a keychain
	Path    = "path"    // other documents, by the paths of their files
)

// Kinds are all of them, in order.
var Kinds = []string{Command, Env, File, Path}

// Allow has the Kinds that documents from elsewhere may use.
type Allow []string

// ErrNotAllowed is wrapped by errors about documents that use a kind that is not allowed.
var ErrNotAllowed = errors.New("catalog: the document uses what is not allowed here")

// ParseAllow reads a list such as command,env.
func ParseAllow(text string) (Allow, error) {
	var list Allow
	for word := range strings.SplitSeq(text, ",") {
		if !slices.Contains(Kinds, word) {
			return nil, fmt.Errorf("%q is none of %s", word, strings.Join(Kinds, ", "))
		}
		list = append(list, word)
	}
	return list, nil
}

// Check refuses a parcel if one of its documents uses a kind that is not allowed. Unpacking finds other faults.
func (a Allow) Check(p *parcel.Parcel) error {
	if p == nil {
		return nil
	}
	for _, hash := range slices.Sorted(maps.Keys(p.Definitions)) {
		w, err := kinds.ParseStored(p.Definitions[hash])
		if err != nil {
			return fmt.Errorf("%w: %w", parcel.ErrParcel, err)
		}
		if err := a.workflow(w, func(operation string) bool { return p.Children[hash+"/"+operation] != "" }); err != nil {
			return err
		}
	}
	return nil
}

// workflow refuses a workflow that uses a kind that is not allowed. along reports whether the workflow of an operation was sent with it.
func (a Allow) workflow(w *template.Workflow, along func(operation string) bool) error {
	for _, name := range slices.Sorted(maps.Keys(w.Operations)) {
		b := w.Operations[name]
		kind, what := bindingUses(b)
		if kind == Path && along != nil && along(name) {
			continue
		}
		if kind != "" && !slices.Contains(a, kind) {
			return refuse(w, b.Pos, kind, fmt.Sprintf("operation %q %s", name, what))
		}
	}
	holder, ok := w.Routing.(interface{ Secrets() []*secret.Entry })
	if !ok {
		return nil
	}
	for _, s := range holder.Secrets() {
		if kind := secretUses(s.Kind); kind != "" && !slices.Contains(a, kind) {
			return refuse(w, s.Pos, kind, fmt.Sprintf("the keychain's %q is of kind %s", s.Name, kind))
		}
	}
	return nil
}

// bindingUses returns the one of Kinds that a binding uses, and the use as a text; "": none. A binding that is not listed here uses
// unknown, which nothing allows.
func bindingUses(b template.Binding) (kind, how string) {
	switch {
	case b.HTTP != nil, b.Sleep != nil, b.Wait != nil, b.Value != nil, b.Fail != nil:
		return "", ""
	case b.Workflow != nil && b.Workflow.Path == "":
		return "", ""
	case b.Workflow != nil:
		return Path, "names a file"
	case b.Command != nil:
		return Command, "runs a program"
	}
	return unknown, "has a binding of an unknown kind"
}

// secretUses returns the one of Kinds that a source of secrets uses; "": none.
func secretUses(kind secret.Kind) string {
	switch kind {
	case secret.HTTP:
		return ""
	case secret.Env:
		return Env
	case secret.File:
		return File
	}
	return unknown
}

// unknown is a kind that nothing allows.
const unknown = "unknown"

func refuse(w *template.Workflow, pos document.Pos, kind, what string) error {
	remedy := "the server takes such documents when it is started with --allow " + kind
	if kind == unknown {
		remedy = "no server takes such documents"
	}
	text := fmt.Errorf("%w: workflow %s: %s; %s", ErrNotAllowed, w.Name, what, remedy)
	if pos.Line == 0 {
		return text
	}
	return &document.Error{Pos: pos, Text: cmp.Or(kind, w.Name), Err: text, Msg: text.Error()}
}
