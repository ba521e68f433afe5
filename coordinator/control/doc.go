// Package control carries the requests of package api to the process that works on the runs of a data folder, by a unix socket in
// the folder. Serve answers them with an engine; Dial finds the process, and Holder.Ask sends it a request. Package folder has a client
// with a method for each request.
//
// # Protocol
//
// A connection carries one request and its replies, each a line of JSON:
//
//	→ {"v":1,"verb":"decide","run":"r1","step":"pay","decision":"fulfilled","actor":"ann"}
//	← {"taken":true}
//	← {"done":{"run":"r1","driven":true,"did":"decide","step":"pay"}}
//	→ {"v":1,"verb":"events","run":"r1","from":7}
//	← {"taken":true}
//	← {"event":{"seq":7,"at":"2026-01-02T15:04:05Z","type":"call.requested","step":"pay","attempt":1}}
//	← {"done":{"run":"r1"}}
//	→ {"v":1,"verb":"cancel","run":"r2","actor":"ann"}
//	← {"taken":true}
//	← {"error":{"code":"finished","message":"run r2: the run has finished"}}
//
// A holder that is about to end carries out the requests it has taken. If taken is missing, nothing was done; if only the last line,
// done or error, is missing, the holder has died, and it is unknown whether a command was journaled.
//
// # Contracts
//
// The socket has mode 0600: the user who may write the folder may use it. A request has at most api.RequestMax bytes and
// must arrive within ten seconds; the number of requests answered at a time is bounded (CommandsMax, ReadsMax, WatchersMax),
// and further ones are refused after a second; a reader that takes nothing for five minutes is cut off, and can resume from
// its last sequence. Slow readers never delay a run. Server and Holder are safe for concurrent use.
package control
