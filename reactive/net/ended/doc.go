// Package ended describes the end of a playbook's task for its rules, and finds the rule that holds.
package ended
