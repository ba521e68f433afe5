package program

import (
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/template"
)

// EffectName returns the name of a world's call: its key without the suffix that makes the key unique. `order[a].pay@7.0` is a call
// of `order[a].pay`.
func EffectName(key string) string {
	if at := strings.LastIndexByte(key, '@'); at >= 0 {
		return key[:at]
	}
	return key
}

// EffectNames returns the names of a world's call in the script, the most specific first: by cell, by machine, by effect, and by
// operation.
func EffectNames(path, key, operation string, step *template.Step) []string {
	name := EffectName(key)
	var names []string
	for _, prefix := range slices.Compact([]string{path, script.Stem(path), ""}) {
		names = append(names, prefix+name, prefix+script.Stem(name), prefix+step.ID)
	}
	return append(names, operation)
}

// FindEffect returns the script of a world's call, or nil.
func FindEffect(parts script.Parts, names []string) *script.Part {
	for _, name := range names {
		if part := parts[name]; part != nil {
			return part
		}
	}
	return nil
}

// scriptedEffect reports whether the script answers an effect of any cell.
func scriptedEffect(parts script.Parts, path string, step *template.Step, operation string) bool {
	for name := range parts {
		if name == step.ID || name == operation || name == path+step.ID ||
			strings.HasSuffix(name, "."+step.ID) && (strings.HasPrefix(name, path) || !strings.Contains(name, "/")) {
			return true
		}
	}
	return false
}

// bindEffects binds the effects of a world, like bind. An effect without an answer fails when a cell emits it.
func (b *binder) bindEffects() {
	eachStep(b.w.Steps, func(s *template.Step) {
		binding, bound := b.w.Operations[s.Operation]
		if bound && builtIn(binding) {
			if !scriptedEffect(b.operations, b.path, s, s.Operation) {
				return
			}
			s.Operation += scriptedSuffix
		}
		b.known[s.Operation] = true
		if f := s.Fulfillment; f != nil && f.Source != nil {
			b.known[f.Source.Operation] = true
		}
	})
}
