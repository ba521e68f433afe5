package keychain_test

import (
	"encoding/base64"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A live reader receives a text at once, without the secrets in it, even if the program pauses within one; except the first few bytes of
// a secret, if it pauses behind them.
func TestALiveTextIsRedactedWhereverItPauses(t *testing.T) {
	const secret = "pa55-wörd/of the shop"
	synctest.Test(t, func(t *testing.T) {
		hidden := secretsOf(t, secret)
		for _, shown := range []string{secret, inJSON(secret), escaped(secret, "%04x"), base64.StdEncoding.EncodeToString([]byte(secret))} {
			text := "say " + shown + " twice: " + shown + ".\n"
			for cut := range len(text) {
				var out strings.Builder
				w := hidden.RedactLive(&out)
				_, _ = io.WriteString(w, text[:cut])
				time.Sleep(time.Second)
				synctest.Wait()
				if cut <= len("say ") {
					require.Equal(t, text[:cut], out.String(), "what is no secret is shown at once")
				}
				_, _ = io.WriteString(w, text[cut:])
				time.Sleep(time.Second)
				synctest.Wait()
				require.NoError(t, w.Close())
				got := out.String()
				require.Equal(t, 2, strings.Count(got, "‹keychain:k.n0›"), "%q cut at %d: %q", shown, cut, got)
				begun := strings.Replace(strings.Replace(got, "‹keychain:k.n0› twice: ", "", 1), "‹keychain:k.n0›.\n", "", 1)
				require.True(t, strings.HasPrefix(begun, "say "), got)
				begun = strings.TrimPrefix(begun, "say ")
				require.True(t, strings.HasPrefix(shown, begun), got)
				require.LessOrEqual(t, len(begun), 5*6+5, "fewer than six characters, each an escape of six, and a part of one: %q", got)
				if shown == secret {
					require.Less(t, len(begun), 6, got)
				}
			}
		}
	})
}

func TestALiveTextThatEndsWithinASecretShowsNoneOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		w := secretsOf(t, "a long secret").RedactLive(&out)
		_, _ = io.WriteString(w, "begun: a long sec")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, "begun: ", out.String())
		require.NoError(t, w.Close())
		require.Equal(t, "begun: ‹keychain:k.n0›", out.String())
	})
}

// Many small parts share a search, and a large part is not held back.
func TestALiveTextIsGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var parts counter
		w := secretsOf(t, "a long secret").RedactLive(&parts)
		for range 10_000 {
			_, _ = io.WriteString(w, "line\n")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, counter{1, 50_000}, parts)
		_, _ = io.WriteString(w, strings.Repeat("-", 1<<20))
		require.Equal(t, counter{2, 50_000 + 1<<20}, parts)
		require.NoError(t, w.Close())
		require.Equal(t, counter{2, 50_000 + 1<<20}, parts)
	})
}

type counter struct{ parts, bytes int }

func (c *counter) Write(part []byte) (int, error) {
	c.parts++
	c.bytes += len(part)
	return len(part), nil
}
