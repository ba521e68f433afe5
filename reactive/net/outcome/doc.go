// Package outcome is how a task of a playbook has ended: what its rules see of that, and which of them holds.
package outcome
