package expr

import (
	"slices"

	"github.com/sluiceflow/sluice/template/value"
)

// keySet is the set of a variable's keys that a template can read.
type keySet struct {
	keys []string // sorted
	all  bool     // any key; keys is then meaningless
}

func (k *keySet) addAll() { k.all = true }

func (k *keySet) add(key string) {
	if at, found := slices.BinarySearch(k.keys, key); !found {
		k.keys = slices.Insert(k.keys, at, key)
	}
}

// addPath adds the key that a pointer into the variable reads.
func (k *keySet) addPath(p value.Pointer) {
	if len(p) == 0 {
		k.addAll()
		return
	}
	k.add(p[0])
}

// note records which keys of a variable are read here.
func (c *compiler) note(name string, how func(*keySet)) {
	if c.keys == nil {
		c.keys = make(map[string]*keySet)
	}
	if c.keys[name] == nil {
		c.keys[name] = &keySet{}
	}
	how(c.keys[name])
}

// Keys returns the keys of a variable that the template can read, sorted: ctx.k, ctx["k"] and {from: /ctx/k} read k, whatever
// follows. all reports that it may read any of them, because a key is computed or the variable is used as a whole; keys is
// nil then. So a caller that watches a variable need not evaluate the template again when another key has changed. The caller must
// not change the result. O(1).
func (t *Template) Keys(name string) (keys []string, all bool) { return t.keySet(name) }

// Members is Keys for the value of a variable's key: ctx.k.m and ctx.k["m"] read m of ctx.k. If Keys reports that any key
// may be read, so may any member, and Members need not report it.
func (t *Template) Members(name, key string) (members []string, all bool) {
	return t.keySet(inner(name, key))
}

// inner returns the name under which the members of a key of a variable are recorded. No variable has such a name.
func inner(name, key string) string { return name + "." + key }

func (t *Template) keySet(name string) (keys []string, all bool) {
	k := t.keys[name]
	if k == nil {
		return nil, false
	}
	if k.all {
		return nil, true
	}
	return k.keys, false
}
