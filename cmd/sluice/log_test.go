//go:build unix

package main

import (
	"bufio"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Output of libraries to the default logger is not shown. Unsolicited data follows the first answer; the second server answers when the
// client has closed the first connection, and so has logged that data.
func TestTheLogOfLibrariesIsNotShown(t *testing.T) {
	var ports [2]net.Listener
	for i := range ports {
		var err error
		ports[i], err = net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer ports[i].Close()
	}
	go func() {
		accept := func(l net.Listener) (net.Conn, *bufio.Reader) {
			c, err := l.Accept()
			if err != nil {
				return nil, nil
			}
			in := bufio.NewReader(c)
			for line := ""; line != "\r\n" && err == nil; {
				line, err = in.ReadString('\n')
			}
			return c, in
		}
		first, in := accept(ports[0])
		if first == nil {
			return
		}
		_, _ = io.WriteString(first, "HTTP/1.1 204 No\r\n\r\nA: told unasked\r\n")
		_, _ = io.Copy(io.Discard, in)
		_ = first.Close()
		if second, _ := accept(ports[1]); second != nil {
			_, _ = io.WriteString(second, "HTTP/1.1 204 No\r\nConnection: close\r\n\r\n")
			_ = second.Close()
		}
	}()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.yaml"), []byte(`
apiVersion: sluice/v1
kind: Playbook
metadata: {name: p}
workflow:
  - {step: a, tool: {kind: http, url: "http://`+ports[0].Addr().String()+`/"}, next: {arcs: [{step: b}]}}
  - {step: b, tool: {kind: http, url: "http://`+ports[1].Addr().String()+`/"}}
`), 0o600))
	p := launch(t, dir, "run", "p.yaml", "-o", "quiet")
	require.NoError(t, p.cmd.Wait(), p.stderr.String())
	require.Empty(t, p.stderr.String())
}
