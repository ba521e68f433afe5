package results

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// kind is the kind of the objects that refer to stored results.
const kind = "result_ref"

// Store holds the results of one run by their references. The zero Store is empty.
type Store struct {
	values       map[string]value.Value
	former, name string // see Rename
}

// Rename makes references to a former run refer to the run with a name, which begins with the past of the former.
func (s *Store) Rename(former, name string) { s.former, s.name = base(former), base(name) }

// Own returns a reference to the former run as a reference to this run, and any other reference unchanged.
func (s *Store) Own(ref string) string {
	if rest, ok := strings.CutPrefix(ref, s.former); ok && s.former != "" {
		return s.name + rest
	}
	return ref
}

// base returns the common prefix of references to a run.
func base(run string) string { return "sluice://run/" + run + "/" }

// Put stores a value of a run and returns the object that refers to it, with the fields of the value that are readable
// without resolving it. The error is from value.JSON.
func (s *Store) Put(run string, v value.Value, fields []playbook.Select) (value.Value, error) {
	text, err := value.JSON(v)
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:])
	ref := base(run) + "result/" + digest
	if s.values == nil {
		s.values = map[string]value.Value{}
	}
	s.values[ref] = v
	extracted := map[string]any{}
	for _, f := range fields {
		extracted[f.As], _ = value.Pointer(f.Path).Lookup(v) // null if there is none
	}
	return map[string]any{
		"kind": kind, "ref": ref, "store": "journal", "scope": "execution",
		"meta":      map[string]any{"bytes": int64(len(text)), "sha256": digest, "content_type": "application/json"},
		"extracted": extracted,
	}, err
}

// Get returns the value of a reference. It reports false if there is none.
func (s *Store) Get(ref string) (value.Value, bool) {
	v, ok := s.values[s.Own(ref)]
	return v, ok
}

// Whole returns the stored value if v is a reference to one, and v otherwise.
func (s *Store) Whole(v value.Value) value.Value {
	if object, ok := v.(map[string]any); ok && object["kind"] == kind {
		if ref, ok := object["ref"].(string); ok {
			if stored, ok := s.Get(ref); ok {
				return stored
			}
		}
	}
	return v
}

// Shrink replaces values of args, whose total size is size bytes, by references, the largest first, until at most most bytes
// are left. It reports false if the references alone take more.
func (s *Store) Shrink(run string, args map[string]value.Value, size, most int) (bool, error) {
	sizes := make(map[string]int, len(args))
	for k, v := range args {
		sizes[k] = Size(v)
	}
	keys := slices.Sorted(maps.Keys(args))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) })
	for _, k := range keys {
		var err error
		if args[k], err = s.Put(run, args[k], nil); err != nil {
			return false, err
		}
		if size += Size(args[k]) - sizes[k]; size <= most {
			return true, nil
		}
	}
	return false, nil
}

// Size returns the length of a value as canonical JSON, or more than the maximum size of a value if it nests too deep to be
// encoded.
func Size(v value.Value) int {
	size, err := value.JSONSize(v)
	if err != nil {
		return value.MaxSizeBytes + 1
	}
	return size
}

// StepReference returns the reference of a step-run's result.
func StepReference(run, key string) string { return base(run) + "step/" + key }
