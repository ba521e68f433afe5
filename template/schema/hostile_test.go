package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// doubled declares n types, each with two parts of the one before: written out they are 2ⁿ.
func doubled(n int, form string) string {
	var b strings.Builder
	b.WriteString("T0: nat\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "T%d: "+form+"\n", i, i-1, i-1)
	}
	return b.String()
}

const levels = 60

// These would not end if a function expanded references.
func TestSharedTypesAreNotExpanded(t *testing.T) {
	for form, levels := range map[string]int{
		"{record: {a: T%d, b: T%d}}": levels, "{record: {a: option<T%d>, b: option<T%d>}}": levels / 2, "{variant: {a: T%d, b: T%d}}": levels,
	} {
		ts, again := types(t, doubled(levels, form)), types(t, doubled(levels, form))
		last := ts.Lookup(fmt.Sprint("T", levels))
		require.True(t, last.Equal(again.Lookup(last.Name)))
		require.Len(t, ts.Document(), levels+1)
		require.Equal(t, last.Name, last.String())
		n, err := last.Normalize(map[string]any{})
		if strings.Contains(form, "option") {
			require.NoError(t, err)
			require.Equal(t, map[string]any{"a": nil, "b": nil}, n)
		} else {
			require.Error(t, err)
		}
	}
	ts := types(t, doubled(levels, "{variant: {a: T%d, b: T%d}}"))
	last, err := ts.Lookup(fmt.Sprint("T", levels)).At(strings.Split(strings.Repeat(".$value", levels)[1:], "."))
	require.NoError(t, err)
	require.Equal(t, schema.Nat, last.Kind)
}

// A small graph in memory is a value of 2⁶⁰ parts: it is refused after as many parts as a value may have.
func TestAGraphThatIsTooLargeIsRefused(t *testing.T) {
	const tooLarge = "has more than 2097152 lists, objects and scalars, or 134217728 bytes of text"
	ts := types(t, doubled(levels, "{record: {a: T%d, b: T%d}}"))
	v := any(int64(1))
	for range levels {
		v = map[string]any{"a": v, "b": v}
	}
	_, err := ts.Lookup(fmt.Sprint("T", levels)).Normalize(v)
	require.EqualError(t, err, tooLarge)

	v = any("a")
	for range levels {
		v = []any{v, v}
	}
	for _, form := range []string{"list<", "set<"} {
		deep := typ(t, ts, strings.Repeat(form, levels)+"text"+strings.Repeat(">", levels))
		_, err = deep.Normalize(v)
		require.EqualError(t, err, tooLarge)
	}
	long := strings.Repeat("0", 1<<20)
	texts := make([]any, 1000)
	object := map[string]any{}
	for i := range texts {
		texts[i] = long
		object[fmt.Sprint(i)] = long
	}
	_, err = typ(t, ts, "list<dec128>").Normalize(texts)
	require.EqualError(t, err, tooLarge)
	_, err = typ(t, ts, `"map<nat, dec128>"`).Normalize(object)
	require.EqualError(t, err, tooLarge)
}

// A record of a thousand options makes a thousand nulls of two bytes of text: they count.
func TestOptionsThatAreLeftOutCount(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "f%d: option<text>, ", i)
	}
	list := typ(t, types(t, "R: {record: {"+b.String()+"}}"), "list<R>")
	objects := make([]any, 3000)
	for i := range objects {
		objects[i] = map[string]any{}
	}
	n, err := list.Normalize(objects[:2000])
	require.NoError(t, err)
	require.Len(t, n.([]any)[1999], 1000)
	_, err = list.Normalize(objects)
	require.ErrorContains(t, err, "has more than 2097152")
}

// Each of ten thousand faults needs a search among ten thousand names for a suggestion.
func TestManyFaultsShareOneBudget(t *testing.T) {
	var b strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&b, "SomeRatherLongNameOfATypeNumber%d: SomeRatherLongNameOfATypNumber%d\n", i, i)
	}
	_, faults := schema.Read(node(t, b.String()))
	require.Len(t, faults, 9000)
	require.Equal(t, "SomeRatherLongNameOfATypeNumber0", faults[0].Suggestion)
	require.Empty(t, faults[8999].Suggestion)

	arms := typ(t, types(t, "{}"), `"map<text, nat>"`)
	object := map[string]any{}
	for i := range 100_000 {
		object[fmt.Sprintf("k%06d", i)] = "x"
	}
	_, err := arms.Normalize(object)
	require.EqualError(t, err, "/k000000: must be an integer, not a text")
}

// A long chain of types is refused once for each maximum of levels, and not by recursion without end.
func TestALongChainIsRefused(t *testing.T) {
	ts, faults := schema.Read(node(t, chain(9000)))
	require.Len(t, faults, 8999/schema.DepthMax)
	require.Equal(t, schema.Invalid, ts.Lookup("T64").Kind)
	backwards := "A: T8999\n" + chain(9000)
	_, faults = schema.Read(node(t, backwards))
	require.Len(t, faults, 8999/schema.DepthMax)
}

func TestTheDepthOfAValueIsThatOfItsType(t *testing.T) {
	v := any("x")
	for range value.MaxDepth + 10 {
		v = []any{v}
	}
	_, err := typ(t, types(t, "{}"), "list<list<text>>").Normalize(v)
	require.EqualError(t, err, "/0/0: must be a text, not a list")
}
