package playbook

import "github.com/sluiceflow/sluice/template/document"

func (r *reader) lintClauses([]clause)  {}
func (r *reader) lint() document.Errors { return r.warnings }
