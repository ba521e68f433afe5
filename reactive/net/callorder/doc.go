// Package callorder computes the order of the calls of a playbook's run, which tokens and tasks determine.
package callorder
