package operation

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// alwaysPassed are the variables of this process that every program receives: most programs need them, and none is secret.
var alwaysPassed = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// CheckVariable refuses a text that cannot name an environment variable.
func CheckVariable(name string) error {
	if name == "" || strings.ContainsAny(name, "=\x00") {
		return fmt.Errorf("%q is not the name of an environment variable: write the name alone, its value is taken from this process", name)
	}
	return nil
}

// environment returns the environment of a program: the variables of this process that are always passed or in passed, then those
// of the call, then those of the binding. Of several values for one name, the last counts.
func environment(c *Call, passed []string, own map[string]string) []string {
	var env []string
	for _, name := range slices.Concat(alwaysPassed, passed) {
		if text, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+text)
		}
	}
	env = append(env,
		"SLUICE_RUN="+c.Run,
		"SLUICE_STEP="+c.Node,
		"SLUICE_ATTEMPT="+strconv.Itoa(int(c.Attempt)),
		"SLUICE_IDEMPOTENCY_KEY="+c.Key(),
	)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		env = append(env, name+"="+own[name])
	}
	return env
}
