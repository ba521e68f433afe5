package doctor

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/compiled"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template/plan"
)

// plansMax bounds the compiled definitions that are kept.
const plansMax = 64

// content checks a definition or a large value, whether or not a run refers to it.
func (d *doctor) content(ctx context.Context, stream string) error {
	if _, err := d.raw.Head(stream); !errors.Is(err, disk.ErrNoHead) {
		if err := d.strayHead(Fault{Content: stream, What: "there is a head, but content has none"}); err != nil {
			return err
		}
	}
	_, err := d.load(ctx, stream)
	if errors.Is(err, errAbsent) {
		return nil // there was only a head
	}
	d.report.Contents++
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return d.fault(Fault{Kind: Content, Content: stream, What: sentence(err), Means: "it is lost to the runs that refer to it"})
}

// strayHead reports, and with mend removes, the head of a stream that is not a run.
func (d *doctor) strayHead(f Fault) error {
	f.Kind, f.Derived, f.Means = Head, true, "lists show a run that does not exist"
	if d.mend {
		if err := d.raw.DropHead(f.Run + f.Content); err != nil {
			return fmt.Errorf("remove the head of %s: %w", f.Run+f.Content, err)
		}
		f.Mended = "the head was removed"
	}
	return d.fault(f)
}

var errAbsent = errors.New("it is missing")

// load returns the content of a stream. It returns errAbsent if there is none, and another error if it cannot be read or does
// not match the name of the stream.
func (d *doctor) load(ctx context.Context, stream string) (content any, err error) {
	found := false
	for record, err := range d.raw.Records(ctx, stream) {
		if err == nil {
			err = record.Err
		}
		switch {
		case err != nil:
			return nil, err
		case found || record.First != 1 || len(record.Events) != 1 || record.Events[0].Type != journal.ContentStored:
			return nil, fmt.Errorf("%w: it is not one event %s", journal.ErrDamaged, journal.ContentStored)
		}
		content, found = record.Events[0].Value, true
	}
	if !found {
		return nil, errAbsent
	}
	hash, _, err := journal.HashOf(content)
	if err != nil {
		return nil, err
	}
	if _, name, _ := strings.Cut(stream, "/"); name != hex.EncodeToString(hash[:]) {
		return nil, fmt.Errorf("%w: the content does not match its hash", journal.ErrDamaged)
	}
	return content, nil
}

// plan returns a definition compiled as for runs of this version. It compiles each definition once, as long as there are at
// most plansMax.
func (d *doctor) plan(ctx context.Context, hash string) (*plan.Plan, error) {
	if known, ok := d.plans[hash]; ok {
		return known.plan, known.err
	}
	var c planned
	content, err := d.load(ctx, journal.DefinitionStream(hash))
	if err == nil {
		c.plan, err = compiled.Plan(content)
	}
	if c.err = err; ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if len(d.plans) >= plansMax {
		clear(d.plans)
	}
	d.plans[hash] = c
	return c.plan, c.err
}
