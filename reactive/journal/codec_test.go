package journal_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// full returns an event without empty fields, so that tests detect a field that the codec omits.
func full() journal.Event {
	return journal.Event{
		Seq: 1 << 40, At: time.Date(2026, 7, 1, 12, 0, 0, 5, time.UTC).UnixNano(), Node: "order/lines[3].check",
		Value: map[string]any{"sku": "A-1", "n": int64(-7), "tags": []any{"x", nil, 1.5, true}}, Attempt: 3, Type: journal.RunStarted,
		Detail: &journal.Detail{
			Start: &journal.Start{
				Run: "r1", Workflow: "cafe", Name: "order", Version: "1.2", FailurePolicy: "abort_all", MaxConcurrency: 8,
				Engine: 1, Expressions: 2, Functions: []string{"cheap enough", ""}, Parent: "r0/a#1",
				Labels: map[string]string{"team": "blue", "b": "", "a": "1"}, Actor: "ann",
				MapItemsMax: 9, InstancesMax: 90, Children: map[string]string{"cafe/pay": "beef"}, OnBlocked: "wait", Seed: []byte{7, 0, 9}, Dir: "/srv",
				Identity: &journal.Identity{ID: "ann", Scopes: []string{"pay"}, Resources: map[string]any{"account": []any{"7"}}},
			},
			Failure:     &journal.Failure{Code: "timeout", Message: "after 3s", Details: []any{int64(1)}, Retryable: true, Step: "a"},
			Participant: "p", Participants: []string{"p", "q"}, Timer: "retry", State: "failed", Name: "go", Actor: "bob",
			Reason: "because", Key: "k", Received: -1, Due: 2, RetryAt: math.MaxInt64, Count: -4,
			About: map[string]any{"http": map[string]any{"status": int64(429)}}, Making: 2, Work: true, Cause: "r0", ID: "m-1", Cells: []string{"order[a]", "ledger"},
		},
	}
}

func encode(t require.TestingT, e journal.Event) []byte {
	data, err := new(journal.Codec).Append(nil, &e)
	require.NoError(t, err)
	return data
}

func decode(t require.TestingT, data []byte) journal.Event {
	e, rest, err := new(journal.Codec).Decode(data)
	require.NoError(t, err)
	require.Empty(t, rest)
	return e
}

func TestEventSurvivesEncoding(t *testing.T) {
	tests := map[string]journal.Event{
		"every field":        full(),
		"only a type":        {Type: journal.RunPaused},
		"extremes":           {Type: journal.CallError, Seq: math.MaxUint64, At: math.MinInt64, Attempt: math.MinInt32},
		"an empty detail":    {Type: journal.CallError, Detail: &journal.Detail{}},
		"an empty failure":   {Type: journal.CallError, Detail: &journal.Detail{Failure: &journal.Failure{}}},
		"an empty start":     {Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{}}},
		"an empty list":      {Type: journal.MapExpanded, Value: []any{}},
		"false is not empty": {Type: journal.BranchDecided, Value: false},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) { require.Equal(t, want, decode(t, encode(t, want))) })
	}
}

func TestEncodingNormalizes(t *testing.T) {
	in := journal.Event{
		Type: journal.CallRequested, Node: "a\xff", Hint: 9, Value: struct {
			N float64 `json:"n"`
		}{2},
		Detail: &journal.Detail{Participants: []string{}},
	}
	want := journal.Event{
		Type: journal.CallRequested, Node: "a\uFFFD", Value: map[string]any{"n": int64(2)}, Detail: &journal.Detail{},
	}
	require.Equal(t, want, decode(t, encode(t, in)))
	require.Nil(t, decode(t, encode(t, journal.Event{Type: journal.RunPaused, Value: (*int)(nil)})).Value)
}

// TestEncodingIsCanonicalCBOR decodes events with a general decoder, whose deterministic encoder must write the same bytes.
func TestEncodingIsCanonicalCBOR(t *testing.T) {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		data := encode(t, drawEvent().Draw(t, "event"))
		var tree any
		require.NoError(t, cbor.Unmarshal(data, &tree))
		again, err := mode.Marshal(tree)
		require.NoError(t, err)
		require.Equal(t, again, data)
	})
}

func TestAnyEventSurvivesEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(drawEvent()).Draw(t, "events")
		var data []byte
		for _, e := range want {
			data = append(data, encode(t, e)...)
		}
		got, err := new(journal.Codec).DecodeAll([]journal.Event{}, data)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

// drawEvent draws events in the form that decoding returns: model values, no empty lists or maps of strings.
func drawEvent() *rapid.Generator[journal.Event] {
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "order/lines[1]"}), rapid.String())
	texts := rapid.Custom(func(t *rapid.T) []string {
		if list := rapid.SliceOfN(text, 0, 3).Draw(t, "list"); len(list) > 0 {
			return list
		}
		return nil
	})
	labels := rapid.Custom(func(t *rapid.T) map[string]string {
		if m := rapid.MapOfN(text, text, 0, 30).Draw(t, "map"); len(m) > 0 {
			return m
		}
		return nil
	})
	leaf := rapid.Custom(func(t *rapid.T) any {
		var v any = text.Draw(t, "text")
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			v = map[string]any{v.(string): rapid.Int64().Draw(t, "int")}
		case 1:
			v = nil
		case 2:
			v = []any{rapid.Bool().Draw(t, "bool"), v}
		}
		return v
	})
	start := rapid.Custom(func(t *rapid.T) *journal.Start {
		return &journal.Start{
			Run: text.Draw(t, "run"), Name: text.Draw(t, "name"), Engine: rapid.Int32().Draw(t, "engine"),
			Functions: texts.Draw(t, "functions"), Labels: labels.Draw(t, "labels"), Actor: text.Draw(t, "actor"),
		}
	})
	failure := rapid.Custom(func(t *rapid.T) *journal.Failure {
		return &journal.Failure{
			Code: text.Draw(t, "code"), Message: text.Draw(t, "message"), Details: leaf.Draw(t, "details"),
			Retryable: rapid.Bool().Draw(t, "retryable"),
		}
	})
	detail := rapid.Custom(func(t *rapid.T) *journal.Detail {
		return &journal.Detail{
			Start: rapid.Ptr(rapid.Just(journal.Start{}), true).Draw(t, "none"), Failure: failure.Draw(t, "failure"),
			Participants: texts.Draw(t, "participants"), Reason: text.Draw(t, "reason"), Due: rapid.Int64().Draw(t, "due"),
			Count: rapid.Int32().Draw(t, "count"),
			Kept: &journal.Kept{
				Run: text.Draw(t, "run"), Seq: uint64(rapid.Uint32().Draw(t, "seq")), Status: text.Draw(t, "status"), If: rapid.Bool().Draw(t, "if"),
			},
		}
	})
	return rapid.Custom(func(t *rapid.T) journal.Event {
		e := journal.Event{
			Seq: rapid.Uint64().Draw(t, "seq"), At: rapid.Int64().Draw(t, "at"), Node: text.Draw(t, "node"),
			Value: leaf.Draw(t, "value"), Attempt: rapid.Int32().Draw(t, "attempt"),
			Type: journal.Type(rapid.IntRange(1, int(journal.ResultAdopted)).Draw(t, "type")),
		}
		switch rapid.IntRange(0, 2).Draw(t, "detail") {
		case 1:
			e.Detail = detail.Draw(t, "detail")
		case 2:
			e.Detail = &journal.Detail{Start: start.Draw(t, "start")}
		}
		return e
	})
}

func TestDecodeRefuses(t *testing.T) {
	good := encode(t, journal.Event{Type: journal.CallRequested, Seq: 7, Node: "a", Value: "v"})
	tests := map[string]struct {
		data []byte
		want error
		text string
	}{
		"nothing":              {nil, journal.ErrDamaged, "ends too early"},
		"a newer version":      {[]byte{0xa2, 0, 5, 1, 2}, journal.ErrVersion, "format 5 of an event, and this program reads 4"},
		"a newer type":         {[]byte{0xa2, 0, 1, 1, 0x18, 99}, journal.ErrVersion, "type 99 of an event"},
		"no version":           {[]byte{0xa1, 1, 2}, journal.ErrDamaged, "without a version"},
		"no type":              {[]byte{0xa1, 0, 1}, journal.ErrDamaged, "has no type"},
		"an unknown field":     {[]byte{0xa3, 0, 1, 1, 2, 22, 0}, journal.ErrDamaged, "field 22 is not known"},
		"fields out of order":  {[]byte{0xa4, 0, 1, 1, 2, 3, 1, 2, 1}, journal.ErrDamaged, "field 2 after field 3"},
		"a long form":          {[]byte{0xa2, 0, 1, 1, 0x18, 2}, journal.ErrDamaged, "shortest"},
		"an empty field":       {[]byte{0xa3, 0, 1, 1, 2, 2, 0}, journal.ErrDamaged, "empty field"},
		"an indefinite length": {[]byte{0xbf, 0, 1, 0xff}, journal.ErrDamaged, "definite"},
		"a huge list":          {[]byte{0xa3, 0, 1, 1, 2, 8, 0xa1, 3, 0x9b, 0xff, 0, 0, 0, 0, 0, 0, 0}, journal.ErrDamaged, "items in"},
		"a value of no model":  {[]byte{0xa3, 0, 1, 1, 2, 6, 0x41, 0xff}, journal.ErrDamaged, "value"},
		"a spilled value":      {append([]byte{0xa3, 0, 1, 1, 2, 7, 0x58, 32}, make([]byte, 32)...), nil, "kept apart in blob/0000"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := new(journal.Codec).Decode(test.data)
			require.ErrorContains(t, err, test.text)
			if test.want != nil {
				require.ErrorIs(t, err, test.want)
			}
		})
	}
	for n := range good {
		_, _, err := new(journal.Codec).Decode(good[:n])
		require.ErrorIs(t, err, journal.ErrDamaged, "cut after %d bytes", n)
	}
}

func TestAppendRefusesWhatItCannotStore(t *testing.T) {
	tests := map[string]struct {
		event journal.Event
		text  string
	}{
		"no type":         {journal.Event{}, "0 is no type"},
		"an unknown type": {journal.Event{Type: 99}, "99 is no type"},
		"a channel":       {journal.Event{Type: journal.RunStarted, Value: make(chan int)}, "event 0 (run.started)"},
		"NaN in details": {journal.Event{Type: journal.CallError, Detail: &journal.Detail{
			Failure: &journal.Failure{Details: math.NaN()}}}, "details of the failure"},
		"a label that is no text": {journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{
			Start: &journal.Start{Labels: map[string]string{"\xff": ""}}}}, "not UTF-8"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dst, err := new(journal.Codec).Append([]byte("kept"), &test.event)
			require.ErrorContains(t, err, test.text)
			require.Equal(t, "kept", string(dst))
		})
	}
}

func TestLargeValuesSpill(t *testing.T) {
	large, err := value.Encode(strings.Repeat("x", 100))
	require.NoError(t, err)
	blobs := map[journal.Hash][]byte{}
	codec := journal.Codec{
		Spill:      func(hash journal.Hash, encoded []byte) { blobs[hash] = encoded },
		SpillBytes: len(large) - 1,
		Fetch:      func(hash journal.Hash) ([]byte, error) { return blobs[hash], nil },
	}
	want := journal.Event{Type: journal.CallResponded, Seq: 1, Value: strings.Repeat("x", 100)}
	data, err := codec.Append(nil, &want)
	require.NoError(t, err)
	hash := journal.Hash(sha256.Sum256(large))
	require.Equal(t, map[journal.Hash][]byte{hash: large}, blobs)
	got, _, err := codec.Decode(data)
	require.NoError(t, err)
	require.Equal(t, want, got)

	blobs[hash] = []byte{0xf6}
	_, _, err = codec.Decode(data)
	require.ErrorIs(t, err, journal.ErrDamaged, "another content under this hash")
	codec.Fetch = func(journal.Hash) ([]byte, error) { return nil, errors.New("no disk") }
	_, _, err = codec.Decode(data)
	require.ErrorContains(t, err, "no disk")

	clear(blobs)
	small, content := want, want
	small.Value, content.Type = "short", journal.ContentStored
	for _, e := range []journal.Event{small, content} {
		data, err := codec.Append(nil, &e)
		require.NoError(t, err)
		require.Equal(t, e, decode(t, data), "%s stays in its event", e.Type)
	}
	require.Empty(t, blobs)
}

func TestHeadSurvivesEncoding(t *testing.T) {
	tests := map[string]journal.Head{
		"zero": {},
		"every field": {
			Run: "r", Workflow: "cafe", Name: "order", Status: "running", Last: 9, Started: -1, Updated: 2, Due: 3, Open: true,
			Labels: map[string]string{"k": "v"}, Snapshot: 8, First: 7,
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			data, err := journal.AppendHead(nil, &want)
			require.NoError(t, err)
			got, err := journal.DecodeHead(data)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.Equal(t, name == "zero", got.IsZero())
			for n := range data {
				_, err := journal.DecodeHead(data[:n])
				require.ErrorIs(t, err, journal.ErrDamaged)
			}
			_, err = journal.DecodeHead(append(data, 0))
			require.ErrorIs(t, err, journal.ErrDamaged)
		})
	}
	_, err := journal.DecodeHead([]byte{0xa1, 0, 9})
	require.ErrorIs(t, err, journal.ErrVersion)
	_, err = journal.AppendHead(nil, &journal.Head{Run: "r", Labels: map[string]string{"\xff": ""}})
	require.ErrorContains(t, err, "not UTF-8")
}

func TestTypesHaveNames(t *testing.T) {
	for n := range 256 {
		typ := journal.Type(n)
		parsed, err := journal.ParseType(typ.String())
		if n >= 1 && n <= int(journal.RunMoved) {
			require.NoError(t, err)
			require.Equal(t, typ, parsed)
		} else {
			require.Error(t, err, "%d is no type", n)
		}
	}
	_, err := journal.ParseType("")
	require.Error(t, err)
	require.Equal(t, "call.requested", journal.CallRequested.String())
	require.Equal(t, "type(0)", journal.Type(0).String())
}

// FuzzDecodeEvent decodes arbitrary bytes: the decoder may refuse them, but must encode accepted events to the same bytes.
func FuzzDecodeEvent(f *testing.F) {
	f.Add(encode(f, full()))
	f.Add(encode(f, journal.Event{Type: journal.CallRequested, Seq: 1, At: 1, Node: "a", Attempt: 1, Value: map[string]any{"x": int64(1)}}))
	f.Add([]byte{0xa3, 0, 1, 1, 2, 6, 0x41, 0xf6})
	f.Fuzz(func(t *testing.T, data []byte) {
		e, rest, err := new(journal.Codec).Decode(data)
		if err != nil {
			return
		}
		again := encode(t, e)
		require.Equal(t, e, decode(t, again))
		if used := data[:len(data)-len(rest)]; len(again) == len(used) && e.Value == nil && e.Detail == nil {
			require.True(t, bytes.Equal(ofThisVersion(used, again), again), "one event, one encoding")
		}
	})
}

// ofThisVersion replaces the version at the beginning of an encoding by the current one.
func ofThisVersion(data, written []byte) []byte {
	data = bytes.Clone(data)
	copy(data[min(1, len(data)):], written[1:min(3, len(written))])
	return data
}

func FuzzDecodeHead(f *testing.F) {
	data, err := journal.AppendHead(nil, &journal.Head{Run: "r", Last: 1, Open: true, Labels: map[string]string{"k": "v"}})
	require.NoError(f, err)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := journal.DecodeHead(data)
		if err != nil {
			return
		}
		again, err := journal.AppendHead(nil, &h)
		require.NoError(t, err)
		require.True(t, bytes.Equal(ofThisVersion(data, again), again), "one head, one encoding")
	})
}

func BenchmarkCodec(b *testing.B) {
	events := map[string]journal.Event{
		"value=none":  {Type: journal.CallRequested, Seq: 1234, At: 1_790_000_000_000_000_000, Node: "order/check", Attempt: 1},
		"value=text":  {Type: journal.CallRequested, Seq: 1234, At: 1_790_000_000_000_000_000, Node: "order/check", Attempt: 1, Value: "A-1"},
		"value=small": {Type: journal.CallRequested, Seq: 1234, At: 1_790_000_000_000_000_000, Node: "order/check", Attempt: 1, Value: map[string]any{"sku": "A-1", "n": int64(3)}},
	}
	for name, e := range events {
		codec := new(journal.Codec)
		data := encode(b, e)
		b.Run("op=encode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			buf := make([]byte, 0, 512)
			for b.Loop() {
				if _, err := codec.Append(buf, &e); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("op=decode/"+name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			buf := make([]journal.Event, 0, 1)
			for b.Loop() {
				if _, err := codec.DecodeAll(buf, data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
