package call_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// gathering is a Gather driven by a script: each word is an event and takes one unit of time:
//
//	begin:a,b   an attempt that asks a and b          a:5    a answers with the score 5 (a:x with the text x)
//	all:a,b     the same, dropping earlier answers    a!     a fails
//	ask:b       the next is asked                     a?     a cannot be reached
//	expire      the attempt's time is up              a~     another event about a arrives
//	close       the attempt is ended from outside     @9     it is now 9
type gathering struct {
	t       testing.TB
	g       *call.Gather
	attempt int32
	at      int64
	out     string // of the newest attempt; "": not decided
	refused []string
}

func newGathering(t testing.TB, spec *template.FanIn) *gathering {
	return &gathering{t: t, g: call.NewGather(spec)}
}

func (x *gathering) play(script string) {
	for _, word := range strings.Fields(script) {
		x.word(word)
		require.NoError(x.t, x.g.Check(), "after %s of %s", word, script)
	}
}

func (x *gathering) word(word string) {
	x.at++
	name, rest, _ := strings.Cut(word, ":")
	switch last := word[len(word)-1]; {
	case word[0] == '@':
		x.at, _ = strconv.ParseInt(word[1:], 10, 64)
		x.at--
	case name == "begin", name == "all":
		var list []string
		if rest != "" {
			list = strings.Split(rest, ",")
		}
		x.attempt++
		x.out = ""
		x.g.Begin(x.attempt, x.g.Lacking(list, name == "all"), x.at, name == "all")
	case name == "ask":
		if !x.g.Ask(rest, x.at) {
			x.refused = append(x.refused, word)
		}
	case word == "expire":
		x.out = show(x.g.Expire(x.at))
	case word == "close":
		x.g.Close(x.at)
	case last == '!':
		x.settle(word, call.Failed, nil, &journal.Failure{Code: word, Message: "why", Retryable: last == word[len(word)-2]})
	case last == '?':
		x.settle(word, call.Unreachable, nil, nil)
	case last == '~':
		x.settle(word, call.Cancelled, nil, nil)
	default:
		x.settle(word, call.Responded, answer(name, rest), nil)
	}
	if out, ok := x.g.Judge(); ok {
		x.out = show(out)
	}
}

func (x *gathering) settle(word string, s call.State, output any, failure *journal.Failure) {
	who, _, _ := strings.Cut(strings.TrimRight(word, "!?~"), ":")
	if !x.g.Settle(who, x.attempt, s, output, failure, x.at) {
		x.refused = append(x.refused, word)
	}
}

// answer returns an answer of a participant, with a score that is a number if it parses as one.
func answer(by, score string) any {
	var v any = score
	if n, err := strconv.ParseInt(score, 10, 64); err == nil {
		v = n
	} else if f, err := strconv.ParseFloat(score, 64); err == nil {
		v = f
	}
	return map[string]any{"by": by, "price": v}
}

// show describes an outcome: a, [a b], or the code of its failure.
func show(out call.Result) string {
	by := func(v any) string { return v.(map[string]any)["by"].(string) }
	if out.Failure != nil {
		return "!" + out.Failure.Code
	}
	list, several := out.Output.(map[string]any)["responses"].([]any)
	if !several {
		return by(out.Output)
	}
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = by(v)
	}
	return fmt.Sprint(names)
}

var letters = map[call.State]string{
	call.Pending: "…", call.Responded: ":", call.Failed: "!", call.Unreachable: "?", call.TimedOut: "t", call.Cancelled: "-",
}

// records returns one word for each dispatch: attempt, participant, state.
func (x *gathering) records() string {
	var words []string
	for _, d := range x.g.Dispatches() {
		words = append(words, fmt.Sprint(d.Attempt, d.Participant, letters[d.State]))
	}
	return strings.Join(words, " ")
}

type gatherTest struct{ name, script, out, records string }

func (test gatherTest) run(t *testing.T, spec *template.FanIn) {
	t.Run(test.name, func(t *testing.T) {
		x := newGathering(t, spec)
		x.play(test.script)
		require.Equal(t, test.out, x.out)
		require.Equal(t, test.records, x.records())
	})
}

func TestAnyOneTakesTheFirstAnswer(t *testing.T) {
	for _, test := range []gatherTest{
		{"and cancels the others", "begin:a,b,c b:1", "b", "1a- 1b: 1c-"},
		{"after errors and absences", "begin:a,b,c a! b? c:1", "c", "1a! 1b? 1c:"},
		{"null is an answer", "begin:a a:", "a", "1a:"},
		{"all failed", "begin:a,b a! b!", "!all_failed", "1a! 1b!"},
		{"one error and absences are all failed", "begin:a,b a! b?", "!all_failed", "1a! 1b?"},
		{"no participant could be reached", "begin:a,b a? b?", "!no_targets", "1a? 1b?"},
		{"there are no participants", "begin:", "!no_targets", ""},
		{"undecided while a participant may answer", "begin:a,b a!", "", "1a! 1b…"},
		{"no answer in time", "begin:a,b a! expire", "!timeout", "1a! 1bt"},
		{"ended from outside", "begin:a,b a! close", "", "1a! 1b-"},
		{"a second attempt asks all participants without an answer", "begin:a,b a! b? begin:a,b b:1", "b", "1a! 1b? 2a- 2b:"},
	} {
		test.run(t, nil)
	}
}

func TestAllWantsEveryAnswer(t *testing.T) {
	for _, test := range []gatherTest{
		{"in the order of asking", "begin:a,b,c c:1 a:1 b:1", "[a b c]", "1a: 1b: 1c:"},
		{"a participant that cannot be reached is left out", "begin:a,b b? a:1", "[a]", "1a: 1b?"},
		{"but one must remain", "begin:a,b a? b?", "!no_targets", "1a? 1b?"},
		{"an error ends it at once", "begin:a,b,c a:1 b!", "!target_failed", "1a: 1b! 1c-"},
		{"no participants", "begin:", "!no_targets", ""},
		{"not in time", "begin:a,b a:1 expire", "!timeout", "1a: 1bt"},
		{"answers are kept", "begin:a,b a:1 b! begin:a,b b:1", "[a b]", "1a: 1b! 2b:"},
		{"kept answers alone are enough when the rest is out of reach", "begin:a,b a:1 b! begin:a,b b?", "[a]", "1a: 1b! 2b?"},
		{"kept answers of those who are no longer targets count", "begin:a,b a:1 b! begin:c c:1", "[a c]", "1a: 1b! 2c:"},
		{"with scope all they do not", "begin:a,b a:1 b! all:b,c b:1 c:1", "[b c]", "1a: 1b! 2b: 2c:"},
		{"with scope all everybody is asked", "begin:a,b a:1 b! all:a,b b:1 a:1", "[a b]", "1a: 1b! 2a: 2b:"},
	} {
		test.run(t, &template.FanIn{Policy: template.All})
	}
}

func TestQuorumWantsSoMany(t *testing.T) {
	for _, test := range []gatherTest{
		{"as soon as there are enough", "begin:a,b,c c:1 a:1", "[a c]", "1a: 1b- 1c:"},
		{"out of reach", "begin:a,b,c a! b?", "!quorum_unreachable", "1a! 1b? 1c-"},
		{"too few from the start", "begin:a", "!quorum_unreachable", "1a-"},
		{"no participants at all", "begin:", "!no_targets", ""},
		{"not in time", "begin:a,b,c a:1 expire", "!timeout", "1a: 1bt 1ct"},
		{"answers are kept", "begin:a,b,c a:1 b! c! begin:a,b,c c:1", "[a c]", "1a: 1b! 1c! 2b- 2c:"},
		{"no participant left to ask, and too few answers", "begin:a,b a:1 b! begin:a", "!quorum_unreachable", "1a: 1b!"},
		{"one who drops out of the targets is forgotten with scope all", "begin:a,b,c a:1 b! c! all:b,c b:1 c:1", "[b c]", "1a: 1b! 1c! 2b: 2c:"},
	} {
		test.run(t, &template.FanIn{Policy: template.Quorum, MinResponses: 2})
	}
}

func TestBestOf(t *testing.T) {
	big := "9007199254740993" // as a float it equals 9007199254740992
	for _, test := range []gatherTest{
		{"the highest", "begin:a,b,c a:1 b:3 c:2", "b", "1a: 1b: 1c:"},
		{"waits for everybody", "begin:a,b a:1", "", "1a: 1b…"},
		{"the end of the window is a success", "begin:a,b,c a:1 b:2 expire", "b", "1a: 1b: 1ct"},
		{"the end of the window without a score is none", "begin:a,b,c a:x b! expire", "!timeout", "1a: 1b! 1ct"},
		{"integers and fractions", "begin:a,b,c a:2 b:2.5 c:-7", "b", "1a: 1b: 1c:"},
		{"large integers differ in their last digit", "begin:a,b a:9007199254740992 b:" + big, "b", "1a: 1b:"},
		{"and against fractions", "begin:a,b a:0.5 b:" + big, "b", "1a: 1b:"},
		{"only numbers are scores", "begin:a,b,c a:x b:true c:-1", "c", "1a: 1b: 1c:"},
		{"no score at all", "begin:a,b a:x b!", "!no_scorable_response", "1a: 1b!"},
		{"all failed", "begin:a,b a! b?", "!all_failed", "1a! 1b?"},
		{"no participant could be reached", "begin:a,b a? b?", "!no_targets", "1a? 1b?"},
		{"of equals the earlier answer", "begin:a,b,c c:5 a:5 b:5", "c", "1a: 1b: 1c:"},
		{"of those of one instant the earlier dispatch", "begin:a,b,c @7 c:5 @7 b:5 @8 a:5", "b", "1a: 1b: 1c:"},
		{"an integer and a fraction can be equal", "begin:a,b b:5 a:5.0", "b", "1a: 1b:"},
		{"an answer without a score is not asked for again", "begin:a,b a:x b! begin:a,b b?", "!no_scorable_response", "1a: 1b! 2b?"},
	} {
		test.run(t, &template.FanIn{Policy: template.BestOf, ScoreField: "/price"})
	}
	for _, test := range []gatherTest{
		{"asc takes the lowest", "begin:a,b,c a:1 b:-3 c:2", "b", "1a: 1b: 1c:"},
		{"asc: of equals the earlier answer", "begin:a,b b:1 a:1", "b", "1a: 1b:"},
	} {
		test.run(t, &template.FanIn{Policy: template.BestOf, ScoreField: "/price", ScoreOrder: "asc"})
	}
	for _, test := range []gatherTest{
		{"fewer than min_responses have a score", "begin:a,b,c a:1 b:x c!", "!quorum_unreachable", "1a: 1b: 1c!"},
		{"fewer at the end of the window", "begin:a,b,c a:1 b:x expire", "!timeout", "1a: 1b: 1ct"},
		{"enough at the end of the window", "begin:a,b,c a:1 b:0 expire", "a", "1a: 1b: 1ct"},
		{"kept answers count and compete", "begin:a,b a:5 b! begin:a,b b:4", "a", "1a: 1b! 2b:"},
		{"with scope all they do neither", "begin:a,b a:5 b! all:a,b b:4 a:3", "b", "1a: 1b! 2a: 2b:"},
	} {
		test.run(t, &template.FanIn{Policy: template.BestOf, ScoreField: "/price", MinResponses: 2})
	}
}

func TestHedgingAsksOneByOne(t *testing.T) {
	for _, test := range []gatherTest{
		{"the first alone", "begin:a,b,c", "", "1a…"},
		{"its answer is enough", "begin:a,b,c a:1", "a", "1a:"},
		{"a failure leaves a participant to ask", "begin:a,b a!", "", "1a!"},
		{"the next one wins", "begin:a,b,c ask:b b:1", "b", "1a- 1b:"},
		{"the former may still win", "begin:a,b,c ask:b a:1", "a", "1a: 1b-"},
		{"no participant left", "begin:a,b a! ask:b b!", "!all_failed", "1a! 1b!"},
		{"no participant left, none reached", "begin:a,b a? ask:b b?", "!no_targets", "1a? 1b?"},
		{"those not asked have no record", "begin:a,b,c expire", "!timeout", "1at"},
		{"a second attempt begins with the first again", "begin:a,b,c expire begin:a,b,c", "", "1at 2a…"},
		{"only the next participant may be asked", "begin:a,b,c ask:c ask:a", "", "1a…"},
		{"none after the end", "begin:a,b a:1 ask:b", "a", "1a:"},
		{"named twice, asked once", "begin:a,a,b,a ask:b ask:a", "", "1a… 1b…"},
	} {
		test.run(t, &template.FanIn{Policy: template.AnyOne, HedgeAfter: 10})
	}
}

func TestWhenTheNextIsAsked(t *testing.T) {
	x := newGathering(t, &template.FanIn{Policy: template.AnyOne, HedgeAfter: 10})
	next := func() string {
		p, due, ok := x.g.Next()
		return fmt.Sprint(p, " ", due, " ", ok)
	}
	x.play("@100 begin:a,b,c")
	require.Equal(t, "b 110 true", next(), "when hedge_after has passed since the last")
	x.play("@105 a!")
	require.Equal(t, "b 0 true", next(), "at once when no answer is outstanding")
	x.play("@106 ask:b")
	require.Equal(t, "c 116 true", next(), "counted from the latest dispatch")
	x.play("ask:c")
	require.Equal(t, " 0 false", next(), "no participant is left")
	require.Equal(t, []string{"b", "c"}, x.g.Waiting())
	x.play("c:1")
	require.Equal(t, []string{"b"}, x.g.Dropped())
	require.Empty(t, x.g.Waiting())
}

// TestAnAttemptAfterASuccessAsksAnew: only failed attempts keep answers, because an attempt after a success must return new
// answers.
func TestAnAttemptAfterASuccessAsksAnew(t *testing.T) {
	for policy, want := range map[string]string{
		template.AnyOne: "1a: 1b- 2a- 2b:",
		template.All:    "1a: 1b: 2a: 2b:",
		template.Quorum: "1a: 1b- 2a- 2b:",
		template.BestOf: "1a: 1b: 2a: 2b:",
	} {
		x := newGathering(t, &template.FanIn{Policy: policy, MinResponses: 1, ScoreField: "/price"})
		x.play("begin:a,b a:9 b:8")
		require.NotContains(t, x.out, "!")
		x.play("begin:a,b")
		require.Empty(t, x.out, policy)
		x.play("b:1 a:0")
		require.Equal(t, want, x.records(), policy)
		require.NotContains(t, x.out, "!", policy)
	}
	x := newGathering(t, &template.FanIn{Policy: template.BestOf, ScoreField: "/price"})
	x.play("begin:a,b a:9 expire begin:a,b a:1 b:2")
	require.Equal(t, "b", x.out, "the former winner competes with its new answer")
}

func TestWhatNobodyWaitsForChangesNothing(t *testing.T) {
	for _, test := range []struct{ before, late string }{
		{"begin:a,b a!", "a:1"},             // it has failed
		{"begin:a,b a:1", "b:2"},            // it was cancelled
		{"begin:a,b a:1", "a:2"},            // it has answered
		{"begin:a,b a:1", "b!"},             // an error after the end
		{"begin:a,b expire", "a:1"},         // after the timeout
		{"begin:a,b close", "b:1"},          // after the end from outside
		{"begin:a,b", "c:1"},                // it was never asked
		{"begin:a,b", "a~"},                 // not a state of an answer
		{"begin:a a! begin:a,b", "ask:b"},   // it has been asked
		{"begin:a,b a! b! begin:b", "a:1"},  // it is not asked in this attempt
		{"", "a:1"}, {"", "a!"}, {"", "a?"}, // there is no attempt
	} {
		x := newGathering(t, nil)
		x.play(test.before)
		out, records := x.out, x.records()
		x.play(test.late)
		require.Equal(t, []string{test.late}, x.refused, "%s after %s", test.late, test.before)
		require.Equal(t, out, x.out, test)
		require.Equal(t, records, x.records(), test)
	}
	x := newGathering(t, nil)
	x.play("begin:a expire begin:a")
	require.False(t, x.g.Settle("a", 1, call.Responded, nil, nil, 9), "an answer to the attempt before")
	require.False(t, x.g.Open("a", 1))
	require.True(t, x.g.Open("a", 2))
}

func TestAFailureSaysWhatIsBehindIt(t *testing.T) {
	judge := func(spec *template.FanIn, f *journal.Failure) *journal.Failure {
		g := call.NewGather(spec)
		g.Begin(1, []string{"a"}, 0, false)
		require.True(t, g.Settle("a", 1, call.Failed, nil, f, 1))
		out, ok := g.Judge()
		require.True(t, ok)
		return out.Failure
	}
	for _, retryable := range []bool{true, false} {
		f := &journal.Failure{Code: "busy", Message: "later", Details: "x", Retryable: retryable}
		require.Equal(t, &journal.Failure{Code: call.CodeTargetFailed, Message: "busy: later", Details: "x", Retryable: retryable},
			judge(&template.FanIn{Policy: template.All}, f), "it may be retried when the error behind it may")
		all := judge(nil, f)
		require.True(t, all.Retryable, "another attempt may find other participants")
		require.Contains(t, all.Message, "busy: later")
		require.True(t, judge(&template.FanIn{Policy: template.Quorum, MinResponses: 1}, f).Retryable)
	}
}

func TestTheParticipantsOfAnEventAreLeftAlone(t *testing.T) {
	participants := []string{"a", "b", "a", "c"}
	g := call.NewGather(&template.FanIn{Policy: template.AnyOne, HedgeAfter: 1})
	g.Begin(1, participants, 0, false)
	require.True(t, g.Ask("b", 1))
	require.True(t, g.Ask("c", 2))
	require.Equal(t, []string{"a", "b", "a", "c"}, participants)
}

// TestGatherKeepsItsInvariants plays random scripts, valid or not.
func TestGatherKeepsItsInvariants(t *testing.T) {
	words := []string{
		"begin:a,b,c", "begin:c,b,b", "begin:", "all:a,b,c", "all:b,d", "ask:b", "ask:c", "expire", "close",
		"a:1", "b:1", "c:2", "d:0", "a:x", "b:x", "a!", "b!", "c!", "a?", "b?", "c?", "a~",
	}
	rapid.Check(t, func(r *rapid.T) {
		spec := &template.FanIn{
			Policy:       rapid.SampledFrom([]string{template.AnyOne, template.All, template.Quorum, template.BestOf}).Draw(r, "policy"),
			MinResponses: rapid.IntRange(1, 3).Draw(r, "min"), ScoreField: "/price",
		}
		if spec.Policy == template.AnyOne && rapid.Bool().Draw(r, "hedge") {
			spec.HedgeAfter = 1
		}
		x := newGathering(t, spec)
		for _, word := range rapid.SliceOfN(rapid.SampledFrom(words), 0, 40).Draw(r, "script") {
			before := x.records()
			x.word(word)
			require.NoError(r, x.g.Check(), word)
			after := strings.Fields(x.records())
			for i, was := range strings.Fields(before) {
				if !strings.HasSuffix(was, "…") {
					require.Equal(r, was, after[i], "an ended dispatch does not change")
				}
			}
		}
	})
}

// TestTheWorkIsThatOfTheDispatches: for any number of participants and any ends of attempts, each dispatch is visited only a
// few times in total.
func TestTheWorkIsThatOfTheDispatches(t *testing.T) {
	const n = 20_000
	participants := make([]string, n)
	for i := range participants {
		participants[i] = strconv.Itoa(i)
	}
	begin := func(spec *template.FanIn) *call.Gather {
		g := call.NewGather(spec)
		g.Begin(1, g.Lacking(participants, false), 0, false)
		return g
	}
	everybody := func(g *call.Gather, attempt int32, s call.State, f *journal.Failure) {
		for i, p := range participants {
			require.True(t, g.Settle(p, attempt, s, answer(p, strconv.Itoa(i%7)), f, int64(i)))
			g.Judge()
		}
	}
	failure := &journal.Failure{Code: "broken"}
	for name, play := range map[string]func() *call.Gather{
		"best of all answers": func() *call.Gather {
			g := begin(&template.FanIn{Policy: template.BestOf, ScoreField: "/price"})
			everybody(g, 1, call.Responded, nil)
			return g
		},
		"a list of all answers": func() *call.Gather {
			g := begin(&template.FanIn{Policy: template.All})
			everybody(g, 1, call.Responded, nil)
			return g
		},
		"everybody fails, and is asked again": func() *call.Gather {
			g := begin(nil)
			everybody(g, 1, call.Failed, failure)
			g.Begin(2, g.Lacking(participants, false), 0, false)
			everybody(g, 2, call.Unreachable, nil)
			return g
		},
		"one by one, until nobody is left": func() *call.Gather {
			g := begin(&template.FanIn{Policy: template.AnyOne, HedgeAfter: 1})
			for p, _, ok := g.Next(); ok; p, _, ok = g.Next() {
				require.True(t, g.Ask(p, 0))
			}
			everybody(g, 1, call.Failed, failure)
			return g
		},
		"nobody answers": func() *call.Gather {
			g := begin(&template.FanIn{Policy: template.Quorum, MinResponses: n})
			g.Expire(1)
			require.Len(t, g.Dropped(), n)
			return g
		},
	} {
		g := play()
		require.NotEmpty(t, g.Dispatches(), name)
		require.LessOrEqual(t, g.Looked(), 5*n, name)
	}
}
