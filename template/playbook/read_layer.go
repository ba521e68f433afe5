package playbook

import (
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// layer holds the settings of a spec for the tasks below it. The innermost spec takes precedence: specs are merged from the
// executor's to the task's. Only settings of the execution of tasks are inherited; policies are not.
type layer struct {
	timeout   time.Duration // of one attempt of a call; 0: not set
	inlineMax int           // 0: not set
	selects   []Select      // nil: not set
	result    bool          // has settings of results
	store     bool          // has a store for them
}

// InlineMax is the default size, in bytes of canonical JSON, above which a result is stored if a playbook stores results.
const InlineMax = 64 << 10

// merged merges layers; a later layer takes precedence over an earlier one.
func merged(layers ...layer) layer {
	var all layer
	for _, l := range layers {
		if l.timeout > 0 {
			all.timeout = l.timeout
		}
		if l.inlineMax > 0 {
			all.inlineMax = l.inlineMax
		}
		if l.selects != nil {
			all.selects = l.selects
		}
		all.result, all.store = all.result || l.result, all.store || l.store
	}
	return all
}

// fields returns the functions that read the settings of every spec.
func (l *layer) fields(r *reader) template.Fields {
	return template.Fields{
		"timeout": func(v *document.Node) { l.timeout = r.callTimeout(v) },
		"result":  func(v *document.Node) { r.result(l, v) },
	}
}

// callTimeout reads the timeout of one attempt of a call: a duration, or the sum of connect and read.
func (r *reader) callTimeout(n *document.Node) time.Duration {
	if n.Kind != document.Mapping {
		return r.duration(n)
	}
	var connect, read time.Duration
	r.mapping(n, template.Fields{
		"connect": func(v *document.Node) { connect = r.duration(v) },
		"read":    func(v *document.Node) { read = r.duration(v) },
	}, nil)
	return connect + read
}

// result reads the settings for the storage of large results. The place and the lifetime of a result have no effect: the engine
// stores it with its run.
func (r *reader) result(l *layer, n *document.Node) {
	l.result = true
	r.mapping(n, template.Fields{
		"inline_max_bytes": func(v *document.Node) { l.inlineMax = r.Count(v) },
		"store": func(v *document.Node) {
			l.store = true
			r.mapping(v, template.Fields{
				"kind":  func(v *document.Node) { r.Text(v) },
				"scope": func(v *document.Node) { r.choice(v, "step", "execution", "workflow", "permanent") },

				"ttl":         r.noEffect("results live as long as their run"),
				"compression": r.noEffect("the engine decides how results are stored"),
			}, nil)
		},
		"select": func(v *document.Node) {
			l.selects = []Select{}
			for _, item := range r.list(v) {
				l.selects = append(l.selects, r.selection(item))
			}
		},
	}, map[string]string{"preview_max_bytes": "name the fields that stay readable under select"})
}

// selection reads one field that stays readable in the reference. Its path is a JSON pointer or in dotted form.
func (r *reader) selection(n *document.Node) Select {
	var s Select
	r.mapping(n, template.Fields{
		"path": func(v *document.Node) { s.Path = r.fieldPath(v) },
		"as":   func(v *document.Node) { s.As = r.Text(v) },
	}, nil)
	r.Required(n, "path")
	if s.As == "" && len(s.Path) > 0 {
		s.As = s.Path[len(s.Path)-1]
	}
	return s
}

func (r *reader) fieldPath(n *document.Node) []string {
	text := r.Text(n)
	if !strings.HasPrefix(text, "/") {
		text = "/" + strings.ReplaceAll(strings.TrimPrefix(text, "$."), ".", "/")
	}
	path, err := value.ParsePointer(text)
	if err != nil || text == "/" {
		r.Refuse(n, "path must name a field, such as rows.total or /rows/total")
		return nil
	}
	return path
}

// resultSettings returns the settings for a task's results, or nil if the layer has none.
func (l *layer) resultSettings() *Result {
	if !l.result {
		return nil
	}
	result := &Result{InlineMax: l.inlineMax, Select: l.selects}
	if result.InlineMax == 0 {
		result.InlineMax = InlineMax
	}
	return result
}

// limitTimeout sets the timeout of a step, unless it has a shorter one.
func (s *Step) limitTimeout(d time.Duration) {
	if d > 0 && (s.Timeout == 0 || d < s.Timeout) {
		s.Timeout = d
	}
}
