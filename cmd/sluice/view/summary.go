package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// The limits of a summary: the last lines of a failed program's output, and failed steps.
const (
	streamLinesMax   = 10
	failuresShownMax = 20
)

// paint returns a text in the style of a word.
type paint func(w progress.Word, text string) string

func plain(_ progress.Word, text string) string { return text }

// summarize prints the output of a completed run, or the failures of any other.
func summarize(w io.Writer, t *progress.Tree, r *coordinator.Result, hasOutput bool, p paint) {
	if r.Err() == nil {
		if hasOutput {
			fmt.Fprintf(w, "\n%s\n", cli.ForPeople(w, pretty(r.Output)))
		}
		return
	}
	list, more := t.Failures()
	list = causeFirst(list, r.Failure)
	if over := len(list) - failuresShownMax; over > 0 {
		list, more = list[:failuresShownMax], more+over
	}
	fmt.Fprintln(w)
	for _, f := range list {
		printFailure(w, f, p)
	}
	if more > 0 {
		fmt.Fprintf(w, "%s\n", p(progress.Failed, fmt.Sprintf("and %d more failures", more)))
	}
	text := fmt.Sprintf("run %s: %s", r.Run, r.Status)
	if r.Failure != nil {
		text += ": " + progress.Clean(r.Failure.Error())
	}
	fmt.Fprintln(w, p(progress.WordOfRun(r.Status), text))
}

// causeFirst returns the failures with the one that has failed the run moved to the beginning: those before it may have been caught.
func causeFirst(list []progress.Failure, of *journal.Failure) []progress.Failure {
	i := slices.IndexFunc(list, func(f progress.Failure) bool { return of != nil && f.Step == of.Step })
	if i <= 0 {
		return list
	}
	return slices.Concat(list[i:i+1], list[:i], list[i+1:])
}

// printFailure prints a failed step with its cause, and the end of its program's output.
func printFailure(w io.Writer, f progress.Failure, p paint) {
	text := progress.Failed.Symbol() + " " + f.Step
	if f.Attempt > 1 {
		text += fmt.Sprintf(" (attempt %d)", f.Attempt)
	}
	fmt.Fprint(w, p(progress.Failed, text))
	if f.Cause == nil {
		fmt.Fprintln(w)
		return
	}
	fmt.Fprintf(w, ": %s\n", progress.Clean(f.Cause.Error()))
	details, _ := f.Cause.Details.(map[string]any)
	for _, stream := range []string{"stderr", "stdout"} {
		if text, ok := details[stream].(string); ok {
			printStream(w, stream, text, p)
		}
	}
}

// printStream prints the last lines of a stream. It omits a single line, which the failure's message has already.
func printStream(w io.Writer, name, text string, p paint) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if name == "stderr" && len(lines) == 1 {
		return
	}
	left := max(0, len(lines)-streamLinesMax)
	title := name
	if left > 0 {
		title += fmt.Sprintf(", last %d of %d lines", len(lines)-left, len(lines))
	}
	fmt.Fprintf(w, "  %s\n", p(progress.Skipped, title+":"))
	for _, line := range lines[left:] {
		fmt.Fprintf(w, "  %s %s\n", p(progress.Skipped, "│"), progress.Clean(line))
	}
}

// pretty returns a value for people: a string as it is, any other value as indented JSON.
func pretty(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	var b bytes.Buffer
	data, err := value.JSON(v)
	if err == nil {
		err = json.Indent(&b, data, "", "  ")
	}
	if err != nil {
		return value.Text(v)
	}
	return b.String()
}
