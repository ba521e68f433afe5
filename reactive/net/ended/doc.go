// Package ended describes the end of a playbook's task, as its rules see it, and finds the rule that holds.
package ended
