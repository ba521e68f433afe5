package cli

import (
	"os/exec"
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
