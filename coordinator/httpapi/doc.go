// Package httpapi serves an engine's runs by HTTP, under /v1: it lists, shows, starts and changes them, and lets observers follow
// them. A request means the same as by the socket of a folder, because package api carries it out.
//
//	handler, err := httpapi.Handler(engine, httpapi.Config{Authenticate: tokens.Check})
//	err = http.ListenAndServe("127.0.0.1:8080", handler)
//
// One table has every route; openapi.json is made from it, and served. Every error is an application/problem+json, see Problem. Bodies are
// read strictly: one JSON object of bounded size, in UTF-8, without duplicate or unknown keys.
//
// The handler belongs into an http.Server with limits of its own for headers and slow clients. Close ends its streams.
package httpapi
