package cli

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuotedWordsStayOneWord(t *testing.T) {
	for _, word := range []string{"plain", "", "two words", "it's", `"$HOME"`, "a\nb", "~", "*", `back\slash`, "ünïcode"} {
		out, err := exec.Command("sh", "-c", "printf %s "+Quote(word)).Output()
		require.NoError(t, err)
		require.Equal(t, word, string(out))
	}
	require.Equal(t, "./journal", Quote("./journal"), "it needs no quotes")
}

func TestArgumentsWithADashAreNoFlags(t *testing.T) {
	shown := func(args []string, options ...string) string {
		_, line, _ := strings.Cut(CommandLine("data", args, options...), " ")
		return line
	}
	require.Equal(t, "resume a --data data", shown([]string{"resume", "a"}))
	require.Equal(t, "send --data data -- -x approve", shown([]string{"send", "-x", "approve"}))
	require.Equal(t, "resume shop --data data -- '-c[1]'", shown([]string{"resume", "shop", "-c[1]"}))
	require.Equal(t, "runs show -o json --data data -- -x", shown([]string{"runs", "show", "-x"}, "-o", "json"))
	require.Equal(t, "bulk cancel --where -label.a:b --data data", shown([]string{"bulk", "cancel"}, "--where", "-label.a:b"), "the value of a flag may begin with a dash")
}
