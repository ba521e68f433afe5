// Package keychain gets the secrets of a playbook's run, gives them to the calls that need them, and keeps them out of
// everything that is written down.
//
//	ring := keychain.New(book, workload, 30*time.Second)
//	err := ring.Resolve(ctx)                              before the run exists
//	input, err := ring.Reveal(ctx, task.Secrets, input)   before a call: marks become secrets
//	output = ring.Redact(output)                          after it: secrets become marks
//
// Whatever reads the journal, a log or an event sees marks (playbook.Mark), as expressions do. A Ring is made anew for a run
// that comes back into memory and gets its secrets again when a call is made: none is ever stored.
//
// # Contracts
//
// Reveal puts in the secrets that it is told, and no others: a mark in what a server has answered opens nothing. Redact finds
// a secret, each of its lines of at least six bytes, and a number that reads like one, wherever it stands in a text: in base64
// with whatever stands before it, also broken into lines, in hexadecimal, and with the escapes of JSON, URLs and HTML, two of
// them within each other; without escapes and in lower case; and of one that is a URL its userinfo, password, path, query and
// fragment by themselves. Of the host of a URL data may tell. An error shows no six bytes of a secret one after the other, in
// upper or lower case, for it often tells what somebody has made of one. What is cut here is redacted first: the end of a
// stream, its last line, an error page, a message. What a call has done to a secret beyond that (cut it in half, encrypted it)
// is not recognized in data. So that this cannot take an output apart by accident, a secret has at least MinLength bytes; it
// has at most 64 KiB.
//
// A Ring is safe for concurrent use. Secrets are got once for all calls that wait for them; Redact costs O(size of the value).
package keychain
