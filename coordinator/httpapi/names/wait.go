package names

import (
	"strconv"
	"strings"
	"time"
)

// waitMax bounds a wait, in seconds.
const waitMax = 60

// Wait returns how long a client prefers to wait, by the header Prefer, 0 if it names no wait; false: its wait is invalid.
func Wait(prefer string) (time.Duration, bool) {
	for part := range strings.SplitSeq(prefer, ",") {
		if text, ok := strings.CutPrefix(strings.TrimSpace(part), "wait="); ok {
			seconds, err := strconv.Atoi(text)
			return time.Duration(min(seconds, waitMax)) * time.Second, err == nil && seconds >= 0
		}
	}
	return 0, true
}
