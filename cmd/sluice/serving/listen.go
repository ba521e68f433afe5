package serving

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/catalog"
	"github.com/sluiceflow/sluice/coordinator/copies"
	"github.com/sluiceflow/sluice/coordinator/httpapi"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
	"github.com/sluiceflow/sluice/coordinator/httpapi/forwarded"
	"github.com/sluiceflow/sluice/coordinator/httpapi/tokens"
)

// Limits of connections. A feed has a deadline for each write, instead of the deadlines for whole requests.
const (
	headerTime  = 5 * time.Second
	readTime    = 30 * time.Second
	writeTime   = 2 * time.Minute
	idleTime    = 2 * time.Minute
	headerBytes = 32 << 10
	stopTime    = 3 * time.Second // for answers in progress, when the host stops
)

// Flags holds the flags that configure the listeners of a host.
type Flags struct {
	Listen   string   // address; "": the host does not listen
	Ready    string   // file that gets the URL
	Proxy    string   // range of addresses
	Cert     string   // file
	Key      string   // file
	Hosts    []string // names of the server
	NoAuth   bool     // no tokens are needed
	Profiles string   // a separate address; "": there are none
	Metrics  string   // a separate address, without tokens; "": only at Listen
	Allow    string   // kinds of bindings that documents of clients may use
	Copies   string   // folder below which backups are made; "": no backups are made
}

// Add adds the flags to a command.
func (f *Flags) Add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Listen, "listen", "", "also answer HTTP at this `ADDRESS`, such as 127.0.0.1:8080; port 0 is a free one")
	flags.StringVar(&f.Ready, "ready-file", "", "write the URL to this `FILE` when the host answers; the file is removed at the end")
	flags.BoolVar(&f.NoAuth, "no-auth", false, "give every process of this machine all rights, without a token")
	flags.StringVar(&f.Allow, "allow", "", "documents that clients send may use `KIND[,…]`: "+strings.Join(catalog.Kinds, ", ")+" (default: none)")
	flags.StringVar(&f.Copies, "backup-dir", "", "let admins make backups by HTTP, below this folder `DIR`, which /v1/doctor uses, too")
	flags.StringVar(&f.Metrics, "metrics-listen", "", "show /metrics at this loopback `ADDRESS`, too, without a token")
	flags.StringVar(&f.Profiles, "pprof-listen", "", "show profiles of Go at this loopback `ADDRESS`, at /debug/pprof/")
	flags.StringArrayVar(&f.Hosts, "host", nil, "clients may call the server by this `NAME`, too (may be repeated)")
	flags.StringVar(&f.Proxy, "behind-proxy", "", "listen on a network, but only for a proxy that has an address in `CIDR`")
	flags.StringVar(&f.Cert, "tls-cert", "", "listen with TLS: `FILE` with the certificates in PEM")
	flags.StringVar(&f.Key, "tls-key", "", "the key of the certificate: `FILE` in PEM")
}

// plan holds the parsed flags.
type plan struct {
	address netip.AddrPort
	proxy   netip.Prefix // not valid: any may connect
	tls     *tls.Config  // nil: none
	hosts   []string
	allow   catalog.Allow

	metrics, profiles netip.AddrPort // not valid: none
}

// tooHigh reports whether a port is a number above 65535.
func tooHigh(port string) bool {
	n, err := strconv.ParseUint(port, 10, 64)
	return errors.Is(err, strconv.ErrRange) || n > 65535
}

// Check returns an error if a host cannot listen with these flags, for example because it would be open to a network without protection.
func (f *Flags) Check() error {
	_, err := f.plan()
	return err
}

func (f *Flags) plan() (p plan, err error) {
	if f.Listen == "" {
		if f.Ready != "" || f.NoAuth || f.Allow != "" || f.Copies != "" || f.Metrics != "" || f.Profiles != "" || f.Proxy != "" || f.Cert != "" || f.Key != "" || len(f.Hosts) > 0 {
			return p, errors.New("--ready-file, --no-auth, --allow, --backup-dir, --metrics-listen, --pprof-listen, --host, --behind-proxy, --tls-cert and --tls-key need --listen")
		}
		return p, nil
	}
	if p.address, err = netip.ParseAddrPort(f.Listen); err != nil {
		if _, port, _ := net.SplitHostPort(f.Listen); tooHigh(port) {
			return p, fmt.Errorf("--listen %q: a port is at most 65535", f.Listen)
		}
		return p, fmt.Errorf("--listen %q: give an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080", f.Listen)
	}
	if f.Metrics != "" {
		if p.metrics, err = loopback("--metrics-listen", f.Metrics); err != nil {
			return p, err
		}
	}
	if f.Profiles != "" {
		if p.profiles, err = loopback("--pprof-listen", f.Profiles); err != nil {
			return p, err
		}
	}
	if f.Allow != "" {
		if p.allow, err = catalog.ParseAllow(f.Allow); err != nil {
			return p, fmt.Errorf("--allow: %w", err)
		}
	}
	if f.Proxy != "" {
		if p.proxy, err = netip.ParsePrefix(f.Proxy); err != nil {
			return p, fmt.Errorf("--behind-proxy %q: give a range of addresses, such as 10.0.0.7/32", f.Proxy)
		}
	}
	switch {
	case p.proxy.IsValid() && f.NoAuth:
		return p, errors.New("--no-auth is not for a host --behind-proxy: every request that the proxy passes on would have all rights")
	case p.proxy.IsValid() && p.proxy.Bits() == 0:
		return p, fmt.Errorf("--behind-proxy %s contains every address, so any client could forge its own: give the addresses of the proxy, such as 10.0.0.7/32", f.Proxy)
	case p.proxy.IsValid() && f.Cert == "" && p.proxy.Bits() < widestBits(p.proxy.Addr()):
		return p, fmt.Errorf("--behind-proxy %s is wider than any private network: give the addresses of the proxy, such as 10.0.0.7/32", f.Proxy)
	}
	if (f.Cert == "") != (f.Key == "") {
		return p, errors.New("--tls-cert and --tls-key need each other")
	}
	if f.Cert != "" {
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return p, fmt.Errorf("--tls-cert: %w", err)
		}
		p.tls = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	for _, name := range f.Hosts {
		if at, err := url.Parse("//" + name); !isAddress(name) && (err != nil || name == "" || at.Hostname() != name || at.Host != name) {
			return p, fmt.Errorf("--host %q: give a name without a port, such as sluice.example.org", name)
		}
	}
	p.hosts = append([]string{p.address.Addr().String()}, f.Hosts...)
	if p.address.Addr().IsLoopback() {
		p.hosts = append(p.hosts, "localhost")
		return p, nil
	}
	switch {
	case f.NoAuth:
		return p, fmt.Errorf("--no-auth is only for loopback addresses, such as 127.0.0.1: %s is open to a network", f.Listen)
	case p.tls == nil && !p.proxy.IsValid():
		return p, fmt.Errorf("%s is open to a network: give --tls-cert and --tls-key, or --behind-proxy CIDR if a proxy in front of it has TLS", f.Listen)
	case p.address.Addr().IsUnspecified() && len(f.Hosts) == 0:
		return p, fmt.Errorf("%s is every address of this machine: say with --host by which names clients call it", f.Listen)
	}
	return p, nil
}

func isAddress(text string) bool { _, err := netip.ParseAddr(text); return err == nil }

// widestBits returns the prefix length of the widest range that a proxy may have: the length of the widest private network.
func widestBits(at netip.Addr) int {
	if at.Is4() {
		return 8 // 10.0.0.0/8
	}
	return 7 // fc00::/7
}

// isWide reports whether a range is wider than a typical network of one owner, and so probably includes more than the proxy.
func isWide(proxies netip.Prefix) bool {
	if proxies.Addr().Is4() {
		return proxies.Bits() < 8
	}
	return proxies.Bits() < 32
}

// At holds the addresses of a host.
type At struct {
	URL   string // of the API
	Login string // address at which a person logs in from a browser, once; "": no login is needed
}

// Start serves HTTP for an engine until the engine shuts down, and then closes record, the audit of the folder. The user is the actor of
// a login at the returned address.
func (f *Flags) Start(ctx context.Context, engine *coordinator.Engine, record *audit.Log, dir, version, user string, logger *slog.Logger) (at At, err error) {
	defer func() {
		if err != nil {
			_ = record.Close()
		}
	}()
	p, err := f.plan()
	if err != nil {
		return at, err
	}
	config := httpapi.Config{
		Folder: dir, Hosts: p.hosts, Allow: p.allow, Secure: p.tls != nil || p.proxy.IsValid(), Audit: record, Version: version, Logger: logger,
	}
	if f.Copies != "" {
		if config.Copies, err = copies.In(f.Copies, engine, dir); err != nil {
			return at, fmt.Errorf("--backup-dir: %w", err)
		}
	}
	if f.NoAuth {
		config.Open = httpapi.Identity{Name: "no-auth", Role: httpapi.Admin}
	} else {
		keep, err := watchTokens(dir, record, logger)
		if err != nil {
			return at, err
		}
		config.Authenticate = authenticate(keep)
	}
	handler, err := httpapi.Handler(engine, config)
	if err != nil {
		return at, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", p.address.String())
	if err != nil {
		return at, err
	}
	scheme := "http"
	if p.proxy.IsValid() {
		listener = &fromProxy{listener, p.proxy, logger}
		if isWide(p.proxy) {
			logger.Warn("any host in this range can forge client addresses, in the audit and for limits: give the addresses of the proxy", "behind-proxy", p.proxy)
		}
	}
	bound := listener.Addr()
	if p.tls != nil {
		scheme, listener = "https", tls.NewListener(listener, p.tls)
	}
	at.URL = scheme + "://" + bound.String()
	if !f.NoAuth {
		at.Login = p.browserURL(at.URL, f.Hosts) + handler.Invite(httpapi.Identity{Name: user, Role: httpapi.Admin})
	}
	server := newServer(p.forwardedHandler(handler))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with the server
	stop := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		handler.Drain(ctx)
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		<-served
		return errors.Join(record.Close(), f.removeReadyFile())
	}
	if err = p.serveLoopback(ctx, engine, handler, logger); err == nil {
		err = f.writeReadyFile(at.URL)
	}
	if err == nil {
		err = engine.BeforeShutdown(stop)
	}
	if err != nil {
		return at, errors.Join(err, stop())
	}
	return at, nil
}

// forwardedHandler returns a handler that uses the client addresses that the proxy reports, if there is a proxy; else handler.
func (p *plan) forwardedHandler(handler http.Handler) http.Handler {
	if !p.proxy.IsValid() {
		return handler
	}
	return forwarded.By(p.proxy, handler)
}

// newServer returns a server that bounds the time and memory of each client.
func newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: headerBytes, ErrorLog: log.New(io.Discard, "", 0), // errors of clients
	}
}

// browserURL returns the URL of the server for browsers: with the first of its names, if any, and through the proxy.
func (p *plan) browserURL(url string, names []string) string {
	switch {
	case len(names) == 0:
		return url
	case p.proxy.IsValid():
		return "https://" + names[0]
	}
	scheme, _, _ := strings.Cut(url, "://")
	return scheme + "://" + net.JoinHostPort(names[0], url[strings.LastIndexByte(url, ':')+1:])
}

// serveLoopback serves metrics and profiles at their loopback addresses, if any, until the engine shuts down.
func (p *plan) serveLoopback(ctx context.Context, engine *coordinator.Engine, handler *httpapi.Server, logger *slog.Logger) error {
	for _, one := range []struct {
		what    string
		at      netip.AddrPort
		handler http.Handler
	}{{"metrics", p.metrics, handler.Metrics()}, {"profiles", p.profiles, profiles()}} {
		if !one.at.IsValid() {
			continue
		}
		url, stop, err := serveLoopback(ctx, one.at, one.handler)
		if err == nil {
			logger.Info("answers without a token", "what", one.what, "url", url)
			err = engine.BeforeShutdown(stop)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// watchTokens returns the tokens of a folder, and records their changes in the audit.
func watchTokens(dir string, to *audit.Log, logger *slog.Logger) (*tokens.Keep, error) {
	keep := tokens.Of(dir)
	if _, err := keep.List(); err != nil {
		return nil, err
	}
	keep.Damaged = func(err error) { logger.Error("no token is valid until their file can be read", "error", err) }
	keep.Changed = func(made, revoked []tokens.Token) {
		for _, t := range made {
			to.Note(audit.Entry{Kind: audit.Created, Actor: t.Name, Role: t.Role})
		}
		for _, t := range revoked {
			to.Note(audit.Entry{Kind: audit.Revoked, Actor: t.Name, Role: t.Role})
		}
	}
	keep.Check("", time.Now()) // only changes from now on are recorded
	return keep, nil
}

// authenticate returns the function that checks the tokens of a folder.
func authenticate(keep *tokens.Keep) func(string) (httpapi.Identity, bool) {
	return func(text string) (httpapi.Identity, bool) {
		t, ok := keep.Check(text, time.Now())
		role := httpapi.ParseRole(t.Role)
		return httpapi.Identity{Name: t.Name, Role: role, Operations: t.Operations, ID: t.Hash}, ok && role != httpapi.Nobody
	}
}

// writeReadyFile writes the URL of the host to the file of --ready-file, if any.
func (f *Flags) writeReadyFile(url string) error {
	if f.Ready == "" {
		return nil
	}
	fresh := f.Ready + ".new"
	if err := os.WriteFile(fresh, []byte(url+"\n"), 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, f.Ready)
}

func (f *Flags) removeReadyFile() error {
	if f.Ready == "" {
		return nil
	}
	if err := os.Remove(f.Ready); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// fromProxy is a listener that accepts connections only from a range of addresses.
type fromProxy struct {
	net.Listener
	from   netip.Prefix
	logger *slog.Logger
}

func (l *fromProxy) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if from, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil && l.from.Contains(from.Addr().Unmap()) {
			return conn, nil
		}
		l.logger.Warn("a connection that does not come from the proxy was closed", "from", conn.RemoteAddr())
		_ = conn.Close()
	}
}

// roles returns the roles that tokens can have.
func roles() []string {
	return []string{httpapi.Viewer.String(), httpapi.Observer.String(), httpapi.Operator.String(), httpapi.Author.String(), httpapi.Worker.String(), httpapi.Admin.String()}
}
