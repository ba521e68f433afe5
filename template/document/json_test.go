package document_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/document"
)

func TestColumnsOfJSONAreCountedInCharacters(t *testing.T) {
	const text = `{"k": ["𝄞", {"a": "é", "e": [2]}],` + "\n" + ` "b": "ü", "c": [], "d": 3}`
	nodes, err := document.Parse("f.json", []byte(text), document.Limits{})
	require.NoError(t, err)
	lines := strings.Split(text, "\n")
	for path, token := range map[string]string{
		"k": "[", "k[0]": `"𝄞"`, "k[1]": `{"a"`, "k[1].a": `"é"`, "k[1].e": "[2", "k[1].e[0]": "2", "b": `"ü"`, "c": "[]", "d": "3",
	} {
		pos := nodes[0].At(path).Pos
		before := lines[pos.Line-1][:strings.Index(lines[pos.Line-1], token)]
		require.Equal(t, 1+utf8.RuneCountInString(before), pos.Col, "%s at %s", token, pos)
	}
}
