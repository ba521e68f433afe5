package transfer

import (
	"context"
	"io"

	"github.com/sluiceflow/sluice/coordinator/holds"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// Verify checks a file without a store to import it into. The error is an *archive.Error if the file would be refused everywhere.
func Verify(ctx context.Context, file io.ReaderAt) error {
	none := memory.New()
	seen := newSurvey(ctx, New(Config{Store: none, Holds: holds.New(none)}))
	defer seen.close()
	return newSource(file).visit(ctx, seen)
}
