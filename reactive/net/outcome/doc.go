// Package outcome describes how a task of a playbook has ended, as its rules see it, and finds the rule that holds.
package outcome
