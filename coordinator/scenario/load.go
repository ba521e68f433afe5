package scenario

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/template/document"
)

// Load reads the scenarios in files and, recursively, in folders, in the order of the paths and of the documents in each file. A file may
// hold several scenarios. Load skips documents of other kinds, so a folder may hold workflows next to the scenarios that use them, but a
// path without any scenario is an error. Load returns the faults of all files together as document.Errors, and then no scenarios.
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
		// Without this error, a misspelt path would count as a passed test.
		if found == 0 && len(errs) == 0 {
			errs = append(errs, program.NoScenario(path))
		}
	}
	if err := document.Join(errs...); err != nil {
		return nil, err
	}
	return all, nil
}

// filesIn returns the files that may hold documents: path itself, or the files in it if path is a folder.
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
