// Package serving opens a host to a network: its listener, and the tokens of those who may use it.
package serving
