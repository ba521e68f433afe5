// Package copies makes copies of the journal of a running engine, below one folder, and checks them with package doctor.
package copies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/doctor"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// faultsMax bounds the faults that a report names.
const faultsMax = 1000

// ErrName is the error about a name that no copy can have, or that an existing copy has.
var ErrName = errors.New("copies: there can be no copy of that name")

// names matches the names of folders that are neither hidden nor outside.
var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// Report is the result of checking a copy.
type Report struct {
	doctor.Report
	Found []doctor.Fault `json:"found,omitempty"` // the first thousand
}

// Folder makes copies below a folder.
type Folder struct {
	engine     *coordinator.Engine
	dir, below string
}

// In returns the folder for copies of an engine whose journal is in dir. It is made, if it is missing.
func In(below string, engine *coordinator.Engine, dir string) (*Folder, error) {
	whole, err := filepath.Abs(below)
	if err == nil {
		err = os.MkdirAll(whole, 0o700)
	}
	return &Folder{engine, dir, whole}, err
}

// Check returns an error if no copy can be made under a name.
func (f *Folder) Check(name string) error {
	if !names.MatchString(name) {
		return fmt.Errorf("%w: it has 1 to 128 letters, digits, dots, hyphens and underscores, and begins with a letter or a digit", ErrName)
	}
	if _, err := os.Lstat(filepath.Join(f.below, name)); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is one", ErrName)
	}
	return nil
}

// Backup makes a copy, with the audit beside it, and reads it back.
func (f *Folder) Backup(ctx context.Context, name string) (*Report, error) {
	if err := f.Check(name); err != nil {
		return nil, err
	}
	return f.copy(ctx, filepath.Join(f.below, name))
}

// Doctor looks for faults in the journal as it is now: in a copy, which is removed.
func (f *Folder) Doctor(ctx context.Context) (report *Report, err error) {
	target, err := os.MkdirTemp(f.below, ".doctor-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(target)) }()
	return f.copy(ctx, target)
}

func (f *Folder) copy(ctx context.Context, target string) (*Report, error) {
	if err := f.engine.Backup(ctx, target); err != nil {
		return nil, err
	}
	if err := audit.Copy(f.dir, target); err != nil {
		return nil, fmt.Errorf("copy the audit: %w", err)
	}
	raw, err := disk.OpenRaw(target, false, disk.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, fmt.Errorf("read the copy back: %w", err)
	}
	report := &Report{}
	tell := func(fault doctor.Fault) error {
		if len(report.Found) < faultsMax {
			report.Found = append(report.Found, fault)
		}
		return nil
	}
	report.Report, err = doctor.Check(ctx, raw, doctor.How{Beside: true}, tell)
	if err = errors.Join(err, raw.Close()); err != nil {
		return nil, fmt.Errorf("read the copy back: %w", err)
	}
	damage, err := audit.Check(target)
	for _, what := range damage {
		report.Faults++
		_ = tell(doctor.Fault{Kind: doctor.Audit, What: what, Means: audit.Means})
	}
	return report, err
}
