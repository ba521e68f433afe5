package graph

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every document of the examples and the tests that can be drawn becomes a well-formed picture.
func TestAllDocumentsAreDrawnAsSVG(t *testing.T) {
	drawn := 0
	for _, dir := range []string{"examples", "testdata"} {
		root := filepath.Join("..", "..", "..", dir)
		require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") && !strings.HasSuffix(path, ".json") {
				return err
			}
			if _, err := drawFile(path, "mermaid"); err != nil {
				return nil // it is no workflow
			}
			picture, err := drawFile(path, "svg")
			require.NoError(t, err, path)
			again, err := drawFile(path, "svg")
			require.NoError(t, err, path)
			require.Equal(t, picture, again, path)
			decoder := xml.NewDecoder(strings.NewReader(picture))
			for err == nil {
				_, err = decoder.Token()
			}
			require.True(t, errors.Is(err, io.EOF), "%s: %v", path, err)
			drawn++
			return nil
		}))
	}
	require.Greater(t, drawn, 15)
}

func drawFile(path, format string) (string, error) {
	var out bytes.Buffer
	cmd := New()
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{path, "--format", format})
	err := cmd.Execute()
	return out.String(), err
}
