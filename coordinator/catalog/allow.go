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

// What a document may use of the machine that runs it. A document that comes from elsewhere may use what is allowed, and nothing else.
const (
	Command = "command" // programs, also by a shell
	Env     = "env"     // variables of the environment, in a keychain
	File    = "file"    // contents of files, in a keychain
	Path    = "path"    // other documents, by the paths of their files
)

// Kinds are all of them, in order.
var Kinds = []string{Command, Env, File, Path}

// Allow limits what documents that come from elsewhere may use: some of Kinds.
type Allow []string

// ErrNotAllowed is wrapped by errors about documents that use what is not allowed.
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

// Check refuses a parcel of which a document uses what is not allowed. What else may be wrong with it is found when it is unpacked.
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

// workflow refuses a workflow that uses what is not allowed. along reports whether the workflow that an operation starts came along.
func (a Allow) workflow(w *template.Workflow, along func(operation string) bool) error {
	for _, name := range slices.Sorted(maps.Keys(w.Operations)) {
		b := w.Operations[name]
		if b.Command != nil && !slices.Contains(a, Command) {
			return refuse(w, b.Pos, Command, fmt.Sprintf("operation %q runs a program", name))
		}
		if b.Workflow != nil && b.Workflow.Path != "" && (along == nil || !along(name)) && !slices.Contains(a, Path) {
			return refuse(w, b.Pos, Path, fmt.Sprintf("operation %q names a file", name))
		}
	}
	holder, ok := w.Routing.(interface{ Secrets() []*secret.Entry })
	if !ok {
		return nil
	}
	for _, s := range holder.Secrets() {
		if kind := map[secret.Kind]string{secret.Env: Env, secret.File: File}[s.Kind]; kind != "" && !slices.Contains(a, kind) {
			return refuse(w, s.Pos, kind, fmt.Sprintf("the keychain's %q is of kind %s", s.Name, kind))
		}
	}
	return nil
}

func refuse(w *template.Workflow, pos document.Pos, kind, what string) error {
	text := fmt.Errorf("%w: workflow %s: %s; the server takes such documents when it is started with --allow %s", ErrNotAllowed, w.Name, what, kind)
	if pos.Line == 0 {
		return text
	}
	return &document.Error{Pos: pos, Text: cmp.Or(kind, w.Name), Err: text, Msg: text.Error()}
}
