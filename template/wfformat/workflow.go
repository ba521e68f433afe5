package wfformat

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
)

// Options determine the steps' operations. With the zero value, steps sleep for the runtimes of their tasks.
type Options struct {
	// Speed divides the recorded runtimes: at 10 a step sleeps for a tenth of its task's runtime. It does not affect
	// commands. It must be positive. Default: 1
	Speed float64

	// Commands makes the steps run the recorded commands of their tasks instead of sleeping. Every task must have one.
	Commands bool
}

// The operations of steps that do not run commands.
const (
	sleeping    = "sleep" // for the duration in the input
	noOperation = "none"  // for tasks without a runtime
)

// runtimeMax bounds the sleep of one step. It is far below the longest duration, and far above any useful one.
const runtimeMax = 100 * 365 * 24 * time.Hour

// Workflow makes a workflow with the shape of the instance. The ids of steps are those of tasks, with underscores for
// characters that an id cannot contain; a number distinguishes ids that would then be equal. The error joins the faults of
// all tasks that cannot become steps. The result belongs to the caller; equal instances and options yield equal workflows.
func (in *Instance) Workflow(opts Options) (*template.Workflow, error) {
	if opts.Speed == 0 {
		opts.Speed = 1
	}
	if !(opts.Speed > 0) || math.IsInf(opts.Speed, 1) {
		return nil, fmt.Errorf("speed must be positive, not %v", opts.Speed)
	}
	m := &maker{opts: opts, operations: make(map[string]template.Binding)}
	ids := stepIDs(in.Tasks)
	steps := make([]template.Node, len(in.Tasks))
	var errs []error
	for i := range in.Tasks {
		task := &in.Tasks[i]
		step := &template.Step{ID: ids[task.ID]}
		if err := m.work(step, task); err != nil {
			errs = append(errs, fmt.Errorf("task %s: %w", document.Quote(task.ID), err))
		}
		for _, parent := range task.Parents {
			step.Needs = append(step.Needs, ids[parent])
		}
		steps[i] = step
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &template.Workflow{
		Name:       workflowName(in.Name),
		Operations: m.operations,
		Steps:      []template.Node{&template.Parallel{Steps: steps}},
	}, nil
}

// maker is the state of one Workflow.
type maker struct {
	opts       Options
	operations map[string]template.Binding
}

// work sets the operation of a step.
func (m *maker) work(step *template.Step, task *Task) error {
	if m.opts.Commands {
		if task.Program == "" {
			return errors.New("no command was recorded")
		}
		step.Operation = step.ID
		m.operations[step.Operation] = template.Binding{Command: command(task)}
		return nil
	}
	nanos := math.Round(task.Runtime / m.opts.Speed * float64(time.Second))
	if nanos > float64(runtimeMax) {
		return fmt.Errorf("a runtime of %v s at speed %v is more than a hundred years", task.Runtime, m.opts.Speed)
	}
	if nanos == 0 {
		step.Operation = noOperation
		m.operations[noOperation] = template.Binding{Value: &template.Constant{}}
		return nil
	}
	step.Operation = sleeping
	step.Input = duration.Format(time.Duration(nanos))
	m.operations[sleeping] = template.Binding{Sleep: &template.Sleep{For: "{{ input }}"}}
	return nil
}

// command returns the command of a task. Recorders differ: some write a program and its arguments, some pieces of a command
// line, some a whole script in place of the program. White space distinguishes them: a text that contains any was meant for
// a shell, because such arguments are recorded with their quotes.
func command(task *Task) *template.Command {
	words := append([]string{task.Program}, task.Arguments...)
	hasSpace := func(word string) bool { return strings.ContainsFunc(word, unicode.IsSpace) }
	if !slices.ContainsFunc(words, hasSpace) {
		for i, word := range words {
			words[i] = literal(word)
		}
		return &template.Command{Argv: words}
	}
	script := strings.Join(words, " ")
	if strings.Contains(script, "{{") { // a shell binding takes no expressions, not even for literal braces
		return &template.Command{Argv: []string{"/bin/sh", "-c", literal(script)}}
	}
	return &template.Command{Shell: script}
}

// literal quotes a text so that no part of it is an expression.
func literal(text string) string { return strings.ReplaceAll(text, "{{", `{{ "{{" }}`) }

// stepIDs returns a step id for every task. Tasks whose own id is valid keep it, wherever they are in the file; the others
// get ids that are not taken.
func stepIDs(tasks []Task) map[string]string {
	ids := make(map[string]string, len(tasks))
	taken := make(map[string]bool, len(tasks))
	for _, task := range tasks {
		if template.ValidID(task.ID) == nil {
			ids[task.ID], taken[task.ID] = task.ID, true
		}
	}
	next := make(map[string]int) // by id: the next number to try, so that a thousand equal ids take linear time
	for _, task := range tasks {
		if ids[task.ID] != "" {
			continue
		}
		base := validID(task.ID)
		id := base
		for n := max(next[base], 2); taken[id]; n++ {
			id = base + "-" + strconv.Itoa(n)
			next[base] = n + 1
		}
		ids[task.ID], taken[id] = id, true
	}
	return ids
}

// validID replaces the characters that an id cannot contain.
func validID(text string) string {
	var b strings.Builder
	for _, r := range text {
		if template.ValidID(string(r)) != nil {
			r = '_'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// workflowName makes a name from any text: lower case, with dashes for characters that a name cannot contain.
func workflowName(text string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '.', r == '_':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, strings.TrimSuffix(text, ".json"))
	if name = strings.Trim(name, "-._"); name == "" {
		return "instance"
	}
	return name
}
