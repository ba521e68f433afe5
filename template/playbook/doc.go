// Package playbook reads documents of kind Playbook: routed steps.
package playbook
