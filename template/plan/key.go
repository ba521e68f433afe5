package plan

import (
	"regexp"
	"strconv"
	"strings"
)

// ParseKey splits the key of a step or map item, such as `check[3][1]`, into id and indexes. It reports false if the text is
// not a key.
func ParseKey(key string) (id string, indexes []int, ok bool) {
	open := strings.IndexByte(key, '[')
	if open < 0 {
		return key, nil, key != ""
	}
	id, rest := key[:open], key[open:]
	for rest != "" {
		end := strings.IndexByte(rest, ']')
		if rest[0] != '[' || end < 0 {
			return "", nil, false
		}
		i, err := strconv.Atoi(rest[1:end])
		if err != nil || i < 0 {
			return "", nil, false
		}
		indexes = append(indexes, i)
		rest = rest[end+1:]
	}
	return id, indexes, id != ""
}

// RowOf returns the row of a call's key: the key of a step, such as `check[3]`, or of a task of a routed workflow, such as `check@1.ask`.
// In `check@3[0].ask~2`, 3 is the run of the step, 0 the item, and 2 the visit of the task.
func (p *Plan) RowOf(key string) (int32, bool) {
	if p.Workflow.Routing != nil {
		return p.routedRow(key)
	}
	id, _, _ := ParseKey(key)
	return p.Row(id)
}

// The texts in the key of a routed call between the names of step and task, and after the task.
var (
	stepRun = regexp.MustCompile(`^@\d+(\[\d+\])?\.$`)
	visited = regexp.MustCompile(`~\d+$`)
)

func (p *Plan) routedRow(key string) (int32, bool) {
	for row := range p.Nodes {
		site := p.Workflow.Routing.CallSite(row)
		rest, ok := strings.CutPrefix(key, site.Step)
		for _, end := range []string{site.Task, site.Task + visited.FindString(key)} {
			if between, is := strings.CutSuffix(rest, end); ok && is && stepRun.MatchString(between) {
				return int32(row), true
			}
		}
	}
	return -1, false
}
