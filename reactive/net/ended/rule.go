package ended

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/playbook"
)

// Rule evaluates the rules of the task for its outcome. The returned rule is nil if no rule holds.
func (o *Task) Rule(env expr.Env) (*playbook.Rule, playbook.Do, error) {
	for i := range o.Task.Rules {
		r := &o.Task.Rules[i]
		if r.When == nil {
			return r, r.Do, nil
		}
		yes, err := r.When.EvalBool(env)
		if err != nil {
			return nil, "", err
		}
		if yes {
			return r, r.Do, nil
		}
	}
	if o.Failure != nil && (!o.Task.HasPolicy || o.Task.Unmatched) {
		return nil, playbook.Fail, nil
	}
	return nil, playbook.Continue, nil
}

// delayMax bounds a delay between two attempts.
const delayMax = 100 * 365 * 24 * time.Hour

// Delay returns the pause after the n-th attempt.
func Delay(rule *playbook.Rule, n int, env expr.Env) (time.Duration, error) {
	seconds := 1.0
	if rule.Delay != nil {
		v, err := rule.Delay.Eval(env)
		if err != nil {
			return 0, err
		}
		switch v := v.(type) {
		case int64:
			seconds = float64(v)
		case float64:
			seconds = v
		case string:
			if seconds, err = strconv.ParseFloat(v, 64); err != nil || math.IsInf(seconds, 0) {
				return 0, errors.New("delay must be a number of seconds, not " + strconv.Quote(v))
			}
		default:
			return 0, errors.New("delay must be a number of seconds, not " + journal.KindOf(v))
		}
	}
	switch rule.Backoff {
	case playbook.BackoffLinear:
		seconds *= float64(n)
	case playbook.BackoffExponential:
		seconds = math.Ldexp(seconds, n-1)
	}
	if !(seconds >= 0) {
		return 0, errors.New("delay must not be negative")
	}
	return time.Duration(min(seconds*float64(time.Second), float64(delayMax))), nil
}
