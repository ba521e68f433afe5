// Package callorder computes which calls of a playbook's run wait for which others, as determined by tokens and tasks.
package callorder
