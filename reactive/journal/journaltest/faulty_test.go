package journaltest_test

import (
	"bytes"
	"context"
	"iter"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// faulty is a correct store except for one method.
type faulty struct {
	journal.ContentStore
	put   func(ctx context.Context, stream string, blobs [][]byte) error
	get   func(ctx context.Context, stream string, hash journal.Hash) ([]byte, error)
	sweep func(ctx context.Context, stream string, keep func(journal.Hash) bool) error
	trim  func(ctx context.Context, stream string, before uint64) error
	head  func(ctx context.Context, stream string) (journal.Head, error)
	read  func(ctx context.Context, stream string, from uint64) iter.Seq2[journal.Event, error]
}

func (f *faulty) PutContent(ctx context.Context, stream string, blobs [][]byte) error {
	return f.put(ctx, stream, blobs)
}

func (f *faulty) Content(ctx context.Context, stream string, hash journal.Hash) ([]byte, error) {
	return f.get(ctx, stream, hash)
}

func (f *faulty) SweepContent(ctx context.Context, stream string, keep func(journal.Hash) bool) error {
	return f.sweep(ctx, stream, keep)
}

func (f *faulty) Trim(ctx context.Context, stream string, before uint64) error {
	return f.trim(ctx, stream, before)
}

func (f *faulty) Head(ctx context.Context, stream string) (journal.Head, error) {
	return f.head(ctx, stream)
}

func (f *faulty) Read(ctx context.Context, stream string, from uint64) iter.Seq2[journal.Event, error] {
	return f.read(ctx, stream, from)
}

// sound returns a correct store.
func sound() *faulty {
	s := memory.New()
	return &faulty{s, s.PutContent, s.Content, s.SweepContent, s.Trim, s.Head, s.Read}
}

// faults has ways to break a correct store, and the test that must fail for each. Each violates a single contract, but most
// make other tests fail, too.
var faults = map[string]struct {
	test  string
	spoil func(f *faulty)
}{
	"forgets the last blob": {"content_comes_back", func(f *faulty) {
		put := f.put
		f.put = func(ctx context.Context, stream string, blobs [][]byte) error {
			return put(ctx, stream, blobs[:max(0, len(blobs)-1)])
		}
	}},
	"serves changed bytes": {"content_comes_back", func(f *faulty) {
		get := f.get
		f.get = func(ctx context.Context, stream string, hash journal.Hash) ([]byte, error) {
			content, err := get(ctx, stream, hash)
			if len(content) > 1 {
				content[1] ^= 1
			}
			return content, err
		}
	}},
	"serves what is missing as nothing": {"content_comes_back", func(f *faulty) {
		get := f.get
		f.get = func(ctx context.Context, stream string, hash journal.Hash) ([]byte, error) {
			content, _ := get(ctx, stream, hash)
			return content, nil
		}
	}},
	"shares what it keeps": {"put_keeps_no_reference,_and_content_is_the_caller's", func(f *faulty) {
		get, shared := f.get, sync.Map{}
		f.get = func(ctx context.Context, stream string, hash journal.Hash) ([]byte, error) {
			if content, ok := shared.Load(hash); ok {
				return content.([]byte), nil
			}
			content, err := get(ctx, stream, hash)
			if err == nil {
				shared.Store(hash, content)
			}
			return content, err
		}
	}},
	"finds content of other streams": {"content_is_apart_for_each_stream", func(f *faulty) {
		get, streams := f.get, sync.Map{}
		put := f.put
		f.put = func(ctx context.Context, stream string, blobs [][]byte) error {
			streams.Store(stream, true)
			return put(ctx, stream, blobs)
		}
		f.get = func(ctx context.Context, stream string, hash journal.Hash) (content []byte, err error) {
			if content, err = get(ctx, stream, hash); err != nil {
				streams.Range(func(other, _ any) bool {
					content, err = get(ctx, other.(string), hash)
					return err != nil
				})
			}
			return content, err
		}
	}},
	"takes content of streams that there are not": {"an_unknown_stream_has_and_takes_nothing", func(f *faulty) {
		put := f.put
		f.put = func(ctx context.Context, stream string, blobs [][]byte) error {
			_, _ = f.Append(ctx, stream, 0, []journal.Event{{Type: journal.RunStarted}}, journal.Head{})
			return put(ctx, stream, blobs)
		}
	}},
	"keeps a part of a put that is too large": {"a_put_that_no_store_takes_keeps_nothing", func(f *faulty) {
		put := f.put
		f.put = func(ctx context.Context, stream string, blobs [][]byte) error {
			err := put(ctx, stream, blobs)
			if err != nil && len(blobs) > 1 {
				_ = put(ctx, stream, blobs[:1])
			}
			return err
		}
	}},
	"sweeps everything": {"a_sweep_deletes_what_is_not_kept", func(f *faulty) {
		sweep := f.sweep
		f.sweep = func(ctx context.Context, stream string, keep func(journal.Hash) bool) error {
			return sweep(ctx, stream, func(hash journal.Hash) bool { keep(hash); return false })
		}
	}},
	"sweeps nothing": {"a_sweep_deletes_what_is_not_kept", func(f *faulty) {
		sweep := f.sweep
		f.sweep = func(ctx context.Context, stream string, keep func(journal.Hash) bool) error {
			return sweep(ctx, stream, func(hash journal.Hash) bool { keep(hash); return true })
		}
	}},
	"sweeps what is put while it asks": {"a_sweep_spares_what_is_put_once_it_asks", func(f *faulty) {
		sweep := f.sweep
		f.sweep = func(ctx context.Context, stream string, keep func(journal.Hash) bool) error {
			kept := map[journal.Hash]bool{}
			err := sweep(ctx, stream, func(hash journal.Hash) bool { kept[hash] = keep(hash); return true })
			if err != nil {
				return err
			}
			return sweep(ctx, stream, func(hash journal.Hash) bool { return kept[hash] })
		}
	}},
	"trims nothing": {"trimmed_events_are_distinguished", func(f *faulty) {
		f.trim = func(context.Context, string, uint64) error { return nil }
	}},
	"trims one event too many": {"trimmed_events_are_distinguished", func(f *faulty) {
		trim := f.trim
		f.trim = func(ctx context.Context, stream string, before uint64) error {
			if before > 2 {
				_ = trim(ctx, stream, before+1)
			}
			return trim(ctx, stream, before)
		}
	}},
	"trims beyond the snapshot": {"a_stream_is_trimmed_up_to_its_snapshot_at_most", func(f *faulty) {
		trim := f.trim
		f.trim = func(ctx context.Context, stream string, before uint64) error {
			if head, err := f.head(ctx, stream); err == nil {
				before = min(before, head.Snapshot)
			}
			return trim(ctx, stream, before)
		}
	}},
	"passes over what is trimmed": {"trimmed_events_are_distinguished", func(f *faulty) {
		read := f.read
		f.read = func(ctx context.Context, stream string, from uint64) iter.Seq2[journal.Event, error] {
			return func(yield func(journal.Event, error) bool) {
				for e, err := range read(ctx, stream, from) {
					if err == nil && !yield(e, nil) || err != nil {
						return
					}
				}
			}
		}
	}},
	"takes what is trimmed for damage": {"a_reader_of_a_stream_that_is_trimmed_misses_nothing_silently", func(f *faulty) {
		f.read = func(ctx context.Context, stream string, _ uint64) iter.Seq2[journal.Event, error] {
			return func(yield func(journal.Event, error) bool) {
				for next := uint64(1); ; next++ {
					for e, err := range f.ContentStore.Read(ctx, stream, next) {
						if err != nil {
							err = journal.ErrDamaged
						}
						if !yield(e, err) || err != nil {
							return
						}
						break
					}
				}
			}
		}
	}},
	"has the head without its snapshot": {"the_head_of_one_run_is_that_of_the_list", func(f *faulty) {
		head := f.head
		f.head = func(ctx context.Context, stream string) (journal.Head, error) {
			h, err := head(ctx, stream)
			h.Snapshot = 0
			return h, err
		}
	}},
	"has a head for every stream": {"the_head_of_one_run_is_that_of_the_list", func(f *faulty) {
		head := f.head
		f.head = func(ctx context.Context, stream string) (journal.Head, error) {
			h, _ := head(ctx, stream)
			return h, nil
		}
	}},
	"goes on when the caller has gone": {"a_store_that_is_closed_or_a_call_that_is_cancelled_does_nothing", func(f *faulty) {
		sweep := f.sweep
		f.sweep = func(_ context.Context, stream string, keep func(journal.Hash) bool) error {
			return sweep(context.Background(), stream, keep)
		}
	}},
}

// TestFaultyStore tests a store with the fault that the environment names, or a correct store.
func TestFaultyStore(t *testing.T) {
	fault := faults[os.Getenv("SLUICE_FAULT")]
	journaltest.TestContent(t, func(*testing.T) journal.ContentStore {
		f := sound()
		if fault.spoil != nil {
			fault.spoil(f)
		}
		return f
	})
}

// The suite fails for each fault, in the expected test. It runs in a child process, because it fails.
func TestEveryFaultIsFound(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.Command(os.Args[0], "-test.run=^TestFaultyStore$/^"+fault.test+"$", "-test.timeout=1m", "-rapid.nofailfile")
			c.Env = append(os.Environ(), "SLUICE_FAULT="+name)
			out, err := c.CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, "the suite takes it for sound")
			require.True(t, bytes.Contains(out, []byte("--- FAIL: TestFaultyStore/"+fault.test)), string(out))
			require.False(t, bytes.Contains(out, []byte("panic:")), string(out))
		})
	}
}
