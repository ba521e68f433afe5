//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/folder"
)

// startHTTPHost starts a host that answers HTTP, and returns its URL. It sets the token of an administrator in the environment.
func startHTTPHost(t *testing.T, dir string, args ...string) (p *process, url string) {
	t.Helper()
	p = launch(t, dir, append([]string{"serve", "--data", "data", "--listen", "127.0.0.1:0", "--ready-file", "url"}, args...)...)
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "url"))
		url = strings.TrimSpace(string(text))
		return err == nil
	}, time.Minute, time.Millisecond)
	token, _ := runToEnd(t, dir, cli.Done, "token", "create", "ann", "--role", "admin", "--data", "data")
	t.Setenv(folder.TokenVariable, strings.TrimSpace(token))
	return p, url
}

// The verbs that work on a folder do the same by HTTP. Their texts name the server instead of the folder.
func TestVerbsWorkByHTTP(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", `{kind: Workflow, name: w, operations: {ask: {wait: {message: go}}, say: {value: "{{ input }}"}},
 steps: [{operation: ask}, {operation: say, input: "{{ steps.ask.output }}"}], output: "{{ steps.say.output }}"}`)
	writeFile(t, dir, "c.yaml", `{kind: Workflow, name: c, operations: {o: {command: {shell: id}}}, steps: [{operation: o}]}`)
	p, url := startHTTPHost(t, dir)
	do := func(code int, args ...string) string {
		t.Helper()
		out, errs := runToEnd(t, dir, code, append(args, "--server", url)...)
		return out + errs
	}
	do(cli.Done, "publish", "w.yaml")
	do(cli.Done, "start", "w", "--id", "run-1")
	require.Contains(t, do(cli.Done, "runs"), "run-1")
	require.Contains(t, do(cli.Done, "runs", "show", "run"), "--server "+url)
	require.Contains(t, do(cli.Done, "send", "run-1", "go", "7"), "sent")
	require.Equal(t, "7\n", do(cli.Done, "runs", "output", "run-1"))
	require.Contains(t, do(cli.Done, "start", "w.yaml", "--id", "run-2"), "run-2")
	require.Contains(t, do(cli.Refused, "runs", "show", "run-"), "run-1, run-2")
	require.Contains(t, do(cli.Refused, "runs", "show", "rum-1"), "no such run")
	do(cli.Done, "cancel", "run-2")
	require.Contains(t, do(cli.Done, "rerun", "run-1", "--from", "say", "--dry-run"), "say")
	require.Contains(t, do(cli.Failed, "start", "c.yaml"), "--allow command")
	require.NoFileExists(t, filepath.Join(dir, "http:"))
	do(cli.Refused, "runs", "--data", "data")

	t.Setenv(cli.ServerVariable, url)
	out, _ := runToEnd(t, dir, cli.Done, "runs", "-o", "json")
	require.Contains(t, out, "run-1")
	t.Setenv(folder.TokenVariable, "wrong")
	_, errs := runToEnd(t, dir, cli.Failed, "runs")
	require.Contains(t, errs, "token")
	p.signal(syscall.SIGTERM)
	require.Equal(t, cli.Done, p.wait())
	_, errs = runToEnd(t, dir, cli.Failed, "runs")
	require.Contains(t, errs, "does not answer")
	require.NoFileExists(t, filepath.Join(dir, "url"))
}

// The audit records acts by HTTP and by the socket, and changes of tokens. It remains after the host has ended, and a backup includes it.
func TestAHostRecordsWhoHasDoneWhat(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", `{kind: Workflow, name: w, operations: {ask: {wait: {message: go}}}, steps: [{operation: ask}]}`)
	p, url := startHTTPHost(t, dir)
	runToEnd(t, dir, cli.Done, "start", "w.yaml", "--id", "r", "--server", url)
	runToEnd(t, dir, cli.Done, "token", "create", "bob", "--role", "viewer", "--data", "data")
	runToEnd(t, dir, cli.Done, "cancel", "r", "--server", url)
	runToEnd(t, dir, cli.Done, "token", "revoke", "bob", "--data", "data")
	runToEnd(t, dir, cli.Done, "runs", "--server", url)
	runToEnd(t, dir, cli.Done, "start", "w.yaml", "--id", "s", "--server", url)
	runToEnd(t, dir, cli.Done, "cancel", "s", "--actor", "carol", "--data", "data")
	runToEnd(t, dir, cli.Done, "gc", "--actor", "carol", "--data", "data")
	p.signal(syscall.SIGTERM)
	require.Equal(t, cli.Done, p.wait())

	runToEnd(t, dir, cli.Done, "backup", "copy", "--data", "data")
	for _, folder := range []string{"data", "copy"} {
		files, err := filepath.Glob(filepath.Join(dir, folder, "audit", "*.jsonl"))
		require.NoError(t, err)
		var text []byte
		for _, file := range files {
			part, err := os.ReadFile(file)
			require.NoError(t, err)
			text = append(text, part...)
		}
		var got []string
		for _, entry := range regexp.MustCompile(`"kind":"([^"]+)","actor":"([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
			got = append(got, entry[1]+" "+entry[2])
		}
		require.Equal(t, []string{"token.created ann", "act ann", "token.created bob", "act ann", "token.revoked bob", "act ann", "act carol", "act carol"}, got, string(text))
		require.Contains(t, string(text), `"run":"r"`)
		require.Regexp(t, `"door":"socket","kind":"act","actor":"carol","route":"cancel","run":"s"`, string(text))
		runToEnd(t, dir, cli.Done, "doctor", "--data", folder)
		require.NoError(t, os.WriteFile(files[0], append([]byte("x\n"), text...), 0o600))
		out, _ := runToEnd(t, dir, cli.Failed, "doctor", "--data", folder)
		require.Contains(t, out, "line 1 of audit/")
	}
}

// While a run goes on, a host makes backups by HTTP below the folder of --backup-dir, and doctor checks the journal.
func TestAHostMakesBackups(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", `{kind: Workflow, name: w, operations: {ask: {wait: {message: go}}}, steps: [{operation: ask}]}`)
	p, url := startHTTPHost(t, dir, "--backup-dir", "copies")
	runToEnd(t, dir, cli.Done, "start", "w.yaml", "--id", "r", "--server", url)
	out, _ := runToEnd(t, dir, cli.Done, "backup", "monday", "--server", url)
	require.Contains(t, out, "copied to monday and read back: 1 runs with 2 events, sound")
	_, errs := runToEnd(t, dir, cli.Refused, "backup", "monday", "--server", url)
	require.Contains(t, errs, "there is one")
	_, errs = runToEnd(t, dir, cli.Refused, "backup", "../elsewhere", "--server", url)
	require.Contains(t, errs, "letters")
	out, _ = runToEnd(t, dir, cli.Done, "doctor", "--server", url)
	require.Contains(t, out, "sound: 1 run with 2 events")
	_, errs = runToEnd(t, dir, cli.Refused, "doctor", "--rebuild", "--server", url)
	require.Contains(t, errs, "--data")
	entries, err := os.ReadDir(filepath.Join(dir, "copies"))
	require.NoError(t, err)
	require.Len(t, entries, 1, "the copy that doctor made is removed")
	runToEnd(t, dir, cli.Done, "doctor", "--data", filepath.Join("copies", "monday"))
	p.signal(syscall.SIGTERM)
	require.Equal(t, cli.Done, p.wait())

	p, url = startHTTPHost(t, t.TempDir())
	_, errs = runToEnd(t, dir, cli.Failed, "backup", "monday", "--server", url)
	require.Contains(t, errs, "--backup-dir")
	p.signal(syscall.SIGTERM)
	require.Equal(t, cli.Done, p.wait())
}

func TestOperatorsSeeAHostWithoutAToken(t *testing.T) {
	dir := t.TempDir()
	p, url := startHTTPHost(t, dir, "--metrics-listen", "127.0.0.1:0", "--pprof-listen", "127.0.0.1:0")
	for what, path := range map[string]string{"metrics": "/", "profiles": "/debug/pprof/cmdline"} {
		found := regexp.MustCompile("what=" + what + " url=(\\S+)").FindStringSubmatch(p.stderr.String())
		require.Len(t, found, 2, p.stderr.String())
		require.NotEqual(t, url, found[1])
		for host, status := range map[string]int{"": 200, "rebound.example": 421} {
			req, err := http.NewRequest(http.MethodGet, found[1]+path, nil)
			require.NoError(t, err)
			req.Host = host
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			resp.Body.Close()
			require.Equal(t, status, resp.StatusCode)
		}
	}
	p.signal(syscall.SIGTERM)
	require.Equal(t, cli.Done, p.wait())
	for _, flag := range []string{"--metrics-listen", "--pprof-listen"} {
		_, errs := runToEnd(t, dir, cli.Refused, "serve", "--data", "data", "--listen", "127.0.0.1:0", flag, "0.0.0.0:0")
		require.Contains(t, errs, "loopback")
	}
}
