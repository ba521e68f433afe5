package directory_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// parse reads a directory in the form of documents.
func parse(t require.TestingT, text string) *template.Directory {
	nodes, err := document.Parse("directory.yaml", []byte(text), document.Limits{})
	require.NoError(t, err)
	d, err := template.ParseDirectory(nodes[0])
	require.NoError(t, err)
	return d
}

const written = `
participants: {pa: {endpoint: "http://127.0.0.1:9001"}, pb: {}, pc: {}}
capabilities:
  quote:
    - {participant: pa, valid_until: "2025-12-31T00:00:00Z"}
    - {participant: pb, valid_until: "2027-01-01T00:00:00Z", attributes: {service_type: text/summarise, tier: 1, region: eu}}
    - {participant: pc, valid_until: "2027-01-01T00:00:00Z", revoked: true}
    - {participant: pd, valid_from: "2026-06-01T00:00:00Z", attributes: {service_type: text/summarise, tier: 2}}
    - {participant: pe, attributes: {service_type: text/translate, tier: 1, region: null}}
    - {participant: pa, attributes: {service_type: text/summarise}}
    - {participant: pb}
    - {participant: pf}
  old:
    - {participant: pa, valid_until: "2026-01-01T00:00:00Z"}
  new:
    - {participant: pa, valid_from: "2026-01-01T00:00:00Z"}
`

func TestResolve(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf("p%d", i)
	}
	for _, c := range []struct {
		name   string
		target *template.Target
		at     time.Time
		want   []string
	}{
		{"static keeps the order, drops repeated ids and keeps ids that the directory does not list",
			&template.Target{Resolve: "static", Participants: []string{"pz", "pb", "pz", "pa", "pb"}}, start, []string{"pz", "pb", "pa"}},
		{"static, many, twice", &template.Target{Resolve: "static", Participants: slices.Concat(many, many)}, start, many},
		{"static without participants", &template.Target{Resolve: "static"}, start, nil},
		{"a capability has valid passports in the order of the directory, each participant once",
			&template.Target{Resolve: "capability", CapabilityID: "quote"}, start, []string{"pb", "pe", "pa", "pf"}},
		{"a passport is valid from an instant on",
			&template.Target{Resolve: "capability", CapabilityID: "quote"}, start.AddDate(0, 5, 0), []string{"pb", "pd", "pe", "pa", "pf"}},
		{"a participant with an expired and a valid passport has the place of the valid one",
			&template.Target{Resolve: "capability", CapabilityID: "quote"}, start.AddDate(-1, 0, 0), []string{"pa", "pb", "pe", "pf"}},
		{"a passport has expired at its last instant", &template.Target{Resolve: "capability", CapabilityID: "old"}, start, nil},
		{"and not before", &template.Target{Resolve: "capability", CapabilityID: "old"}, start.Add(-1), []string{"pa"}},
		{"a passport is valid at its first instant", &template.Target{Resolve: "capability", CapabilityID: "new"}, start, []string{"pa"}},
		{"and not before it", &template.Target{Resolve: "capability", CapabilityID: "new"}, start.Add(-1), nil},
		{"a limit counts participants", &template.Target{Resolve: "capability", CapabilityID: "quote", Limit: 3}, start, []string{"pb", "pe", "pa"}},
		{"a limit that is not reached", &template.Target{Resolve: "capability", CapabilityID: "quote", Limit: 9}, start, []string{"pb", "pe", "pa", "pf"}},
		{"every key of a filter must be equal",
			&template.Target{Resolve: "capability", CapabilityID: "quote", Filter: map[string]any{"service_type": "text/summarise", "tier": 1.0}}, start, []string{"pb"}},
		{"a filter for null wants null",
			&template.Target{Resolve: "capability", CapabilityID: "quote", Filter: map[string]any{"region": nil}}, start, []string{"pe"}},
		{"a text does not equal a number", &template.Target{Resolve: "capability", CapabilityID: "quote", Filter: map[string]any{"tier": "1"}}, start, nil},
		{"the limit counts matching participants",
			&template.Target{Resolve: "capability", CapabilityID: "quote", Limit: 1, Filter: map[string]any{"service_type": "text/translate"}}, start, []string{"pe"}},
		{"a capability that no participant offers", &template.Target{Resolve: "capability", CapabilityID: "fly"}, start, nil},
		{"a task type has one provider", &template.Target{Resolve: "task_type", CapabilityID: "quote"}, start, []string{"pb"}},
		{"a task type without a provider", &template.Target{Resolve: "task_type", CapabilityID: "old"}, start, nil},
		{"no target", nil, start, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, directory.Resolve(directory.Of(parse(t, written)), c.target, c.at))
		})
	}
}

func TestWithoutADirectoryOnlyNamedParticipantsAreFound(t *testing.T) {
	for _, d := range []directory.Directory{nil, directory.Of(nil)} {
		require.Equal(t, []string{"pa"}, directory.Resolve(d, &template.Target{Resolve: "static", Participants: []string{"pa"}}, start))
		require.Nil(t, directory.Resolve(d, &template.Target{Resolve: "capability", CapabilityID: "quote"}, start))
		require.Nil(t, directory.Resolve(d, &template.Target{Resolve: "task_type", CapabilityID: "quote"}, start))
	}
	_, ok := directory.Of(nil).Participant("pa")
	require.False(t, ok)
}

func TestTheDirectoryOfADocumentListsItsParticipants(t *testing.T) {
	d := directory.Of(parse(t, written))
	about, ok := d.Participant("pa")
	require.True(t, ok)
	require.Equal(t, map[string]any{"endpoint": "http://127.0.0.1:9001"}, about)
	_, ok = d.Participant("pf")
	require.False(t, ok, "a passport alone says nothing about its holder")
}

// The result belongs to the caller: writing to it changes neither the target nor the next result.
func TestTheResultBelongsToTheCaller(t *testing.T) {
	target := &template.Target{Resolve: "static", Participants: []string{"pa", "pb"}}
	directory.Resolve(nil, target, start)[0] = "px"
	require.Equal(t, []string{"pa", "pb"}, directory.Resolve(nil, target, start))
}

// For any passports and target, the result equals that of a search by participant: the participants with a matching passport, in
// the order of their first such passport, up to the limit.
func TestResolveEqualsASearchByParticipant(t *testing.T) {
	names := rapid.SampledFrom([]string{"pa", "pb", "pc", "pd", "pe"})
	attribute := rapid.SampledFrom([]any{nil, true, "true", int64(1), "1", 1.5})
	attributes := rapid.MapOf(rapid.SampledFrom([]string{"k", "l"}), attribute)
	instant := rapid.Custom(func(t *rapid.T) time.Time {
		if day := rapid.IntRange(0, 6).Draw(t, "day"); day > 0 {
			return start.AddDate(0, 0, day)
		}
		return time.Time{}
	})
	passport := rapid.Custom(func(t *rapid.T) template.Passport {
		return template.Passport{
			Participant: names.Draw(t, "participant"), ValidFrom: instant.Draw(t, "from"), ValidUntil: instant.Draw(t, "until"),
			Revoked: rapid.IntRange(0, 4).Draw(t, "revoked") == 0, Attributes: attributes.Draw(t, "attributes"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		passports := rapid.SliceOfN(passport, 0, 12).Draw(t, "passports")
		target := &template.Target{
			Resolve: "capability", CapabilityID: "c", Filter: attributes.Draw(t, "filter"), Limit: rapid.IntRange(0, 3).Draw(t, "limit"),
		}
		at := start.AddDate(0, 0, rapid.IntRange(0, 6).Draw(t, "at"))

		first := map[string]int{}
		for _, name := range []string{"pa", "pb", "pc", "pd", "pe"} {
			for i, p := range passports {
				ok := p.Participant == name && !p.Revoked && p.ValidFrom.Compare(at) <= 0 && (p.ValidUntil.IsZero() || p.ValidUntil.Compare(at) > 0)
				for key, v := range target.Filter {
					got, has := p.Attributes[key]
					ok = ok && has && got == v
				}
				if _, found := first[name]; ok && !found {
					first[name] = i
				}
			}
		}
		var want []string
		for i, p := range passports {
			if at, ok := first[p.Participant]; ok && at == i && (target.Limit == 0 || len(want) < target.Limit) {
				want = append(want, p.Participant)
			}
		}
		d := directory.Of(&template.Directory{Capabilities: map[string][]template.Passport{"c": passports}})
		require.Equal(t, want, directory.Resolve(d, target, at))

		one := directory.Resolve(d, &template.Target{Resolve: "task_type", CapabilityID: "c"}, at)
		all := directory.Resolve(d, &template.Target{Resolve: "capability", CapabilityID: "c"}, at)
		require.Equal(t, all[:min(1, len(all))], one[:min(1, len(one))])
		require.LessOrEqual(t, len(one), 1)
	})
}

func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("passports=%d", n), func(b *testing.B) {
			passports := make([]template.Passport, n)
			for i := range passports {
				passports[i] = template.Passport{Participant: fmt.Sprintf("p%d", i), Attributes: map[string]any{"tier": int64(i % 2)}}
			}
			d := directory.Of(&template.Directory{Capabilities: map[string][]template.Passport{"c": passports}})
			target := &template.Target{Resolve: "capability", CapabilityID: "c", Filter: map[string]any{"tier": int64(1)}}
			require.Len(b, directory.Resolve(d, target, start), n/2)
			b.ReportAllocs()
			for b.Loop() {
				directory.Resolve(d, target, start)
			}
		})
	}
}
