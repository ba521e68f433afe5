package api

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/find"
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/coordinator/transfer"
	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/reactive/journal/archive"
)

// partBytes is the approximate number of bytes of an exported file in one reply.
const partBytes = 256 << 10

// transferRuns carries out a request to export, import or back up runs.
func transferRuns(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) error {
	switch req.Verb {
	case Export:
		return export(ctx, engine, req, emit)
	case Import:
		return importFile(ctx, engine, req, emit)
	}
	return engine.Backup(ctx, req.File)
}

// export emits the parts of a file.
func export(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) error {
	runs, err := selected(ctx, engine, req)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(parts(emit), partBytes)
	if err := engine.Export(ctx, w, runs...); err != nil {
		return err
	}
	return w.Flush()
}

// parts emits written bytes as replies.
type parts func(*Reply) error

func (emit parts) Write(data []byte) (int, error) { return len(data), emit(&Reply{Data: data}) }

// selected returns the ids of the runs that a request names or its query selects.
func selected(ctx context.Context, engine *coordinator.Engine, req *Request) (runs []string, err error) {
	for _, name := range req.Runs {
		run, err := find.Run(ctx, engine, name)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run.ID())
	}
	if len(runs) > 0 {
		return runs, nil
	}
	q, err := query.Parse(req.Query, time.Now())
	if err != nil {
		return nil, fmt.Errorf("%w: query: %w", ErrBadRequest, err)
	}
	for row, err := range q.Each(ctx, engine, "") {
		if err != nil {
			return nil, fmt.Errorf("list runs: %w", err)
		}
		runs = append(runs, row.Head.Run)
	}
	return runs, nil
}

// importFile imports the runs of a file, and emits the outcome of each.
func importFile(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) error {
	file, err := readfile.Open(req.File)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBadInput, err)
	}
	defer func() { _ = file.Close() }()
	runs, err := engine.Import(ctx, file, req.Actor)
	if err != nil {
		return Refused(cmp.Or(req.Name, req.File), err)
	}
	for i := range runs {
		if err := emit(&Reply{Imported: &runs[i]}); err != nil {
			return err
		}
	}
	return nil
}

// Refused adds the position in the file to an error about a file of runs.
func Refused(file string, err error) error {
	if fault, ok := errors.AsType[*archive.Error](err); ok {
		e := ErrorOf(err)
		text := strings.ReplaceAll(fault.Text(), transfer.ErrOther.Error(), "the folder has a run of that id with other content")
		if !errors.Is(err, transfer.ErrOther) && !strings.Contains(text, "export the runs again") && !strings.Contains(text, "use the one") {
			text += "; export the runs again"
		}
		e.Code, e.Message = "refused_file", fmt.Sprintf("%s:%d: %s; nothing was imported", file, fault.Line, text)
		return e
	}
	return err
}
