package playbook

import (
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// readable are the variables whose values Readings reports.
var readable = []string{"workload", "ctx", "args", "event", "input", "step", "results", "outcome", "output"}

// Readings adds to list the values that an expression reads, by the text of the read: keys of variables or, if the expression
// reads only some members of a key, these members.
func Readings(e Expr, env expr.Env, list map[string]value.Value) {
	if e == nil {
		return
	}
	bare := Bare(e)
	for _, name := range slices.Concat(readable, bare) {
		v, err := env.Name(name)
		object, ok := v.(map[string]any)
		keys, all := e.Keys(name)
		if slices.Contains(bare, name) && (!ok || all) {
			list[name] = v // null if undefined
			continue
		}
		if err != nil || !ok {
			continue
		}
		if all {
			keys = slices.Sorted(maps.Keys(object))
		}
		for _, k := range keys {
			members, whole := e.Members(name, k)
			below, isObject := object[k].(map[string]any)
			if all || whole || len(members) == 0 || !isObject {
				list[name+"."+k] = object[k]
				continue
			}
			for _, m := range members {
				list[name+"."+k+"."+m] = below[m]
			}
		}
	}
}

// Matching returns the indexes of the arcs to follow: the first that holds or, if the router is inclusive, all that hold.
func (n *Next) Matching(env expr.Env) ([]int, error) {
	var list []int
	for i := range n.Arcs {
		yes := n.Arcs[i].When == nil
		if !yes {
			var err error
			if yes, err = n.Arcs[i].When.EvalBool(env); err != nil {
				return nil, err
			}
		}
		if yes {
			list = append(list, i)
			if !n.Inclusive {
				break
			}
		}
	}
	return list, nil
}
