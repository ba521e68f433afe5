package scenario

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/template/document"
)

// Load reads the scenarios in files and folders, subfolders included, in the order of their paths and their positions. A
// file may hold several. Documents of other kinds are skipped, so that workflows may lie beside their scenarios; but a path
// without any scenario is an error. Load reports the faults of all files together, as document.Errors, and then returns no
// scenarios.
func Load(paths ...string) ([]*Scenario, error) {
	var all []*Scenario
	var errs []error
	for _, path := range paths {
		files, err := filesIn(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		found := 0
		for _, file := range files {
			list, err := loadFile(file)
			if err != nil {
				errs = append(errs, err)
			}
			all = append(all, list...)
			found += len(list)
		}
		// Otherwise a misspelt folder would be a test that always passes.
		if found == 0 && len(errs) == 0 {
			errs = append(errs, fmt.Errorf("%s: no scenario", path))
		}
	}
	if err := document.Join(errs...); err != nil {
		return nil, err
	}
	return all, nil
}

// filesIn returns path if it is a file, or the files in the folder that may hold documents.
func filesIn(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(file))) {
			files = append(files, file)
		}
		return err
	})
	return files, err
}

func loadFile(file string) ([]*Scenario, error) {
	data, err := readfile.Regular(file, document.BytesMax)
	if err != nil {
		return nil, err
	}
	nodes, err := document.Parse(file, data, document.Limits{})
	errs := []error{err}
	var list []*Scenario
	for _, n := range nodes {
		if kind := n.Get("kind"); kind == nil || kind.Value() != Kind {
			continue
		}
		s, err := read(n)
		errs = append(errs, err)
		list = append(list, s)
	}
	return list, document.Join(errs...)
}
