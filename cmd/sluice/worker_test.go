//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/httpapi/tokens"
	"github.com/sluiceflow/sluice/coordinator/workers"
)

// needs returns the path of a program, and skips the test if the machine does not have it. In CI it fails the test instead.
func needs(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed", name)
	}
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

// workersOfExamples holds the functions that start the workers of examples/worker, by language.
var workersOfExamples = map[string]func(t *testing.T, source, scratch string) *exec.Cmd{
	"Go": func(t *testing.T, source, scratch string) *exec.Cmd {
		out, err := exec.Command("go", "build", "-o", filepath.Join(scratch, "worker"), filepath.Join(source, "main.go")).CombinedOutput()
		require.NoError(t, err, string(out))
		return exec.Command(filepath.Join(scratch, "worker"))
	},
	"Python": func(t *testing.T, source, _ string) *exec.Cmd {
		return exec.Command(needs(t, "python3"), filepath.Join(source, "worker.py"))
	},
	"TypeScript": func(t *testing.T, source, scratch string) *exec.Cmd {
		node, compiler := needs(t, "node"), os.Getenv("SLUICE_TSC")
		if compiler == "" && os.Getenv("CI") == "true" {
			t.Fatal("SLUICE_TSC does not name the compiler")
		}
		if compiler == "" {
			t.Skip("SLUICE_TSC does not name a compiler of TypeScript")
		}
		out, err := exec.Command(compiler, "--strict", "--target", "es2022", "--module", "es2022", "--lib", "es2022,dom", "--outDir", scratch,
			filepath.Join(source, "worker.ts")).CombinedOutput()
		require.NoError(t, err, string(out))
		require.NoError(t, os.Rename(filepath.Join(scratch, "worker.js"), filepath.Join(scratch, "worker.mjs")))
		return exec.Command(node, filepath.Join(scratch, "worker.mjs"))
	},
}

// Workers in several languages carry out the same order. The order is started before the worker, and waits for it.
func TestWorkersInSeveralLanguages(t *testing.T) {
	source, err := filepath.Abs("../../examples/worker")
	require.NoError(t, err)
	for language, command := range workersOfExamples {
		t.Run(language, func(t *testing.T) {
			dir := t.TempDir()
			program(t)
			cmd := command(t, source, dir)
			host, url := startHTTPHost(t, dir)
			order := filepath.Join(source, "order.yaml")
			_, errs := runToEnd(t, dir, cli.Done, "start", order, "--id", "o", "--data", "data")
			require.Contains(t, errs, "no worker serves charge, price now")
			out, _ := runToEnd(t, dir, cli.Done, "explain", "o", "price", "--data", "data")
			require.Contains(t, out, "none serves price since")
			token, _ := runToEnd(t, dir, cli.Done, "token", "create", "shop", "--role", "worker", "--operation", "price", "--operation", "charge", "--data", "data")
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			cmd.Env = append(os.Environ(), cli.ServerVariable+"="+url, folder.TokenVariable+"="+strings.TrimSpace(token))
			require.NoError(t, cmd.Start())
			defer func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				if t.Failed() {
					t.Log(said.String())
				}
			}()
			runToEnd(t, dir, cli.Done, "run", "--resume", "o", "--data", "data")
			out, _ = runToEnd(t, dir, cli.Done, "runs", "output", "o", "--data", "data")
			require.Contains(t, out, "15 for o/charge")
			host.signal(syscall.SIGTERM)
			require.Equal(t, cli.Done, host.wait())
		})
	}
}

// When a workflow is published, a warning names the operations that are left to workers. The tokens and the key of workers stay in the
// folder: no copy of the folder has them.
func TestWhatIsLeftToWorkersAndWhatStaysHere(t *testing.T) {
	dir := t.TempDir()
	host, _ := startHTTPHost(t, dir)
	order, err := filepath.Abs("../../examples/worker/order.yaml")
	require.NoError(t, err)
	_, errs := runToEnd(t, dir, cli.Done, "publish", order, "--data", "data")
	require.Contains(t, errs, "warning: no document binds charge, price: workers carry that out, and no worker serves charge, price now")
	said, errs := runToEnd(t, dir, cli.Done, "publish", order, "--data", "data", "-o", "json")
	require.Contains(t, said, `"warning":"no document binds charge, price: workers carry that out, and no worker serves`)
	require.Empty(t, errs)
	runToEnd(t, dir, cli.Done, "start", order, "--id", "o", "--data", "data")
	token, _ := runToEnd(t, dir, cli.Done, "token", "create", "shop", "--data", "data")
	host.signal(syscall.SIGTERM)
	require.Equal(t, cli.Done, host.wait())

	runToEnd(t, dir, cli.Done, "backup", "copy", "--data", "data")
	runToEnd(t, dir, cli.Done, "export", "--all", "--data", "data", "-o", "runs.jsonl")
	kept, err := os.ReadFile(filepath.Join(dir, "data", tokens.FileName))
	require.NoError(t, err)
	key, err := os.ReadFile(filepath.Join(dir, "data", workers.KeyFile))
	require.NoError(t, err)
	hash := regexp.MustCompile(`[0-9a-f]{64}`).Find(kept)
	require.NotEmpty(t, hash, "the file of tokens has a hash")
	secrets := [][]byte{key, []byte(hex.EncodeToString(key)), []byte(base64.StdEncoding.EncodeToString(key)), hash, []byte(strings.TrimSpace(token))}
	seen := 0
	for _, root := range []string{"copy", "runs.jsonl"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(dir, root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			seen++
			require.NotContains(t, []string{tokens.FileName, workers.KeyFile}, d.Name())
			data, err := os.ReadFile(path)
			for _, secret := range secrets {
				require.False(t, bytes.Contains(data, secret), path)
			}
			return err
		}))
	}
	require.Greater(t, seen, 1, "there are files in the copy")
}
