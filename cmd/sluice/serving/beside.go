package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"time"
)

// profileTime bounds an answer with a profile. The request sets its duration.
const profileTime = 5 * time.Minute

// loopback parses the value of a flag that must be a loopback address with a port.
func loopback(flag, text string) (netip.AddrPort, error) {
	at, err := netip.ParseAddrPort(text)
	if err != nil || !at.Addr().IsLoopback() {
		return at, fmt.Errorf("%s %q: give a loopback address and a port, such as 127.0.0.1:6060: it needs no token", flag, text)
	}
	return at, nil
}

// profiles returns a handler of the profiles of this process.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// serveLoopback starts a server at a loopback address, and returns its URL and a function that stops it.
func serveLoopback(ctx context.Context, at netip.AddrPort, handler http.Handler) (url string, stop func() error, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", at.String())
	if err != nil {
		return "", nil, err
	}
	bound := listener.Addr().String()
	local := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Host != bound { // otherwise a page of another site could read the answers under its own host name
			http.Error(w, "the host of the request is not the address of this server", http.StatusMisdirectedRequest)
			return
		}
		handler.ServeHTTP(w, req)
	})
	server := &http.Server{
		Handler: local, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: profileTime, IdleTimeout: idleTime,
		MaxHeaderBytes: headerBytes, ErrorLog: log.New(io.Discard, "", 0), // errors of clients
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // until the server is closed
	return "http://" + bound, func() error {
		err := server.Close()
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		return err
	}, nil
}
