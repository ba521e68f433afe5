// Package keychain fetches the secrets of a run, puts them into the calls that need them, and redacts them from
// everything that is written.
//
//	ring, err := rings.Begin(ctx, run, workflow, input, "")   before the run exists
//	input, err := ring.Reveal(ctx, call.Secrets, input)       before a call: marks become secrets
//	output = ring.Redact(output)                              after it: secrets become marks
//
// Readers of the journal, a log or an event see marks (secret.Mark), as expressions do. A run that is loaded into memory
// fetches its secrets again when a call is made: no secret is ever stored. Rings has the rings of all runs: the ring of a run also
// redacts the secrets of the runs above it, and reveals none of them.
//
// # Contracts
//
// Reveal fills in the secrets of the given marks, and no others: a mark in a server's answer reveals nothing. Redact finds
// a secret, each of its lines of at least six bytes, and, if it is a number, that number with either sign, also as a float and in every
// notation of its digits, point, zeros and exponent, anywhere in a text: in base64 after any prefix, also broken into lines; in
// hexadecimal; with the escapes of JSON, URLs and HTML, up to two nested; without escapes and in lower case; and, of a secret that is a
// URL, its userinfo, password, path, query and fragment separately. The host of a URL may appear in data. An error shows no six
// consecutive bytes of a secret, in upper or lower case, because errors often hold texts derived from one. Texts that Sluice cuts are
// redacted first: the end of a stream, its last line, an error page, a message. In data, Redact does not recognize a secret that a call
// has changed in other ways (cut in half, encrypted). A secret has at least MinLength bytes, so that redaction does not damage outputs by
// accident, and at most 64 KiB.
//
// A Ring is safe for concurrent use. Secrets are fetched once for all calls that wait for them; Redact costs O(size of the
// value).
package keychain
