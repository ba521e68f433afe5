// Package signals is fine-grained reactivity: values that know who depends on them, so that a change costs what it changes.
package signals
