// Package serving implements the network access of a host: its listener, and the tokens of its clients.
package serving
