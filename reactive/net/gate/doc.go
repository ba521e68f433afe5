// Package gate holds denied tokens until a key that their rules have read changes.
//
// The verdict about each token is a computed signal over the keys of the context that its rules read: a write of other keys
// costs nothing, and after a write of one of its keys, the next Look judges the token once.
package gate
