// Package machine reads documents of kind World.
package machine
