// Package callorder computes which calls of a playbook's run wait for which others, as far as tokens and tasks say so.
package callorder
