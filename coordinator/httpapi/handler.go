package httpapi

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/catalog"
	"github.com/sluiceflow/sluice/coordinator/copies"
	"github.com/sluiceflow/sluice/coordinator/feed"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
	"github.com/sluiceflow/sluice/coordinator/httpapi/draining"
	"github.com/sluiceflow/sluice/coordinator/httpapi/forwarded"
	"github.com/sluiceflow/sluice/coordinator/httpapi/frames"
	"github.com/sluiceflow/sluice/coordinator/httpapi/idempotency"
	"github.com/sluiceflow/sluice/coordinator/httpapi/jobs"
	"github.com/sluiceflow/sluice/coordinator/httpapi/large"
	"github.com/sluiceflow/sluice/coordinator/httpapi/measures"
	"github.com/sluiceflow/sluice/coordinator/httpapi/names"
	"github.com/sluiceflow/sluice/coordinator/httpapi/page"
	"github.com/sluiceflow/sluice/coordinator/httpapi/rates"
	"github.com/sluiceflow/sluice/coordinator/httpapi/sessions"
	"github.com/sluiceflow/sluice/coordinator/httpapi/standing"
	"github.com/sluiceflow/sluice/internal/usercode"
)

// Role is the rights of a client. Each includes those before it, except that only workers and admins take calls.
type Role int

// The roles.
const (
	Nobody   Role = iota
	Worker        // takes calls of the operations that its token names, and answers them
	Observer      // follows the statuses of runs and steps, and sees no input, output, message or error
	Viewer        // also reads everything, also inputs and outputs
	Operator      // starts and changes runs
	Author        // publishes workflows, and brings documents along
	Admin         // deletes runs
)

var roleNames = []string{Nobody: "nobody", Worker: "worker", Observer: "observer", Viewer: "viewer", Operator: "operator", Author: "author", Admin: "admin"}

func (r Role) String() string { return roleNames[r] }

// ParseRole returns the role of a name, or Nobody.
func ParseRole(name string) Role { return Role(max(0, slices.Index(roleNames, name))) }

// Identity is the caller of a request.
type Identity struct {
	Name string // the actor of its commands, in the journal
	Role Role   // decides its rights

	Operations []string // of a worker: whose calls it may take
	ID         string   // of the token itself, while another may come to have its name; "": the name is its own
}

// Rates at which requests are answered: of a token, and those without a valid one from an address.
const (
	rateOfToken = 10_000 // a second
	rateOfWrong = 10     // a second
)

// Limits of streams, by default.
const (
	StreamsMax          = 2000
	StreamsOfAClientMax = 16
)

// Config configures a Handler.
type Config struct {
	// Authenticate returns the identity of a token, and whether it is valid. Required, unless Open is set.
	Authenticate func(token string) (Identity, bool)

	// Open is the identity of all clients, which then need no token. Default: a token is needed.
	Open Identity

	// Hosts are the names, without port, by which clients may call the server, so that no page of another site can reach it by a
	// name of its own. Default: any.
	Hosts []string

	// Allow limits which parts of this machine the documents of clients may use. Default: none.
	Allow catalog.Allow

	// Secure declares that browsers reach the server only by TLS: then they send the cookie of a session by TLS only. Default: they may
	// reach it without.
	Secure bool

	// Audit records the requests that changed something or were refused; it belongs to the caller. Default: nothing is recorded.
	Audit *audit.Log

	// Copies is the folder for backups, and for the copies that are checked for faults. Default: none are made.
	Copies *copies.Folder

	// Folder is the folder of the store; the metrics report its size. Default: no size is reported.
	Folder string

	// Version is the answer of /version. Default: "".
	Version string

	// Streams and StreamsOfAClient bound the feeds that are open at the same time. Default: StreamsMax, StreamsOfAClientMax.
	Streams, StreamsOfAClient int

	// Logger receives failures of the server itself. Default: slog.Default().
	Logger *slog.Logger
}

// Server is the handler of an engine.
type Server struct {
	engine   *coordinator.Engine
	config   Config
	log      *slog.Logger
	mux      *http.ServeMux
	hub      *feed.Hub
	streams  *frames.Streams
	kept     idempotency.Responses
	values   *large.Values
	requests draining.Requests // under way

	sessions sessions.Keep[login]
	standing standing.Watch
	jobs     *jobs.Jobs
	tokens   *rates.Limit // by name of the token
	wrong    *rates.Limit // by address

	measures *measures.Of
	openAPI  []byte
	ctx      context.Context // of its streams
	stop     context.CancelFunc
}

// Handler returns the handler of an engine. Its streams end with Close, or when the engine shuts down.
func Handler(engine *coordinator.Engine, config Config) (*Server, error) {
	if config.Authenticate == nil && config.Open.Role == Nobody {
		return nil, errors.New("httpapi: neither tokens nor an identity for all are configured")
	}
	s := &Server{
		engine: engine, config: config, log: usercode.Logger(cmp.Or(config.Logger, slog.Default())), mux: http.NewServeMux(), hub: feed.New(engine), jobs: jobs.New(), values: large.New(large.HeldBytesMax, large.LoadsMax),
	}
	most := cmp.Or(config.Streams, StreamsMax)
	s.streams = frames.Limit(most, cmp.Or(config.StreamsOfAClient, StreamsOfAClientMax))
	s.measures = measures.New(engine, measures.Server{Feeds: s.streams.Count, FeedsMax: most, Folder: config.Folder})
	s.tokens, s.wrong = rates.New(rateOfToken), rates.New(rateOfWrong)
	s.ctx, s.stop = context.WithCancel(context.Background())
	var err error
	if s.openAPI, err = OpenAPI(); err != nil {
		return nil, err
	}
	for i := range routes {
		r := &routes[i]
		s.mux.HandleFunc(r.Method+" "+r.Path, func(w http.ResponseWriter, req *http.Request) { s.serve(w, req, r) })
	}
	for _, pattern := range append(page.Views, page.Prefix) {
		s.mux.Handle("GET "+pattern, page.Handler())
	}
	return s, engine.BeforeShutdown(func() error { s.Close(); return nil })
}

// Close ends all streams and refuses new ones. It may be called more than once.
func (s *Server) Close() {
	s.stop()
	s.hub.Close()
	s.jobs.Close()
	if hub := s.engine.Workers(); hub != nil {
		hub.Drain()
	}
}

// Drain is Close, and returns when the requests that are under way have been answered, or ctx ends. Meanwhile /livez and /readyz answer, and
// every other request is refused.
func (s *Server) Drain(ctx context.Context) {
	s.Close()
	s.requests.Await(ctx)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	defer s.recoverPanic(w, req)
	header := w.Header()
	header.Set(requestHeader, names.Request())
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	if escaped := req.URL.EscapedPath(); path.Clean(escaped) != escaped {
		s.notFound(w, req, "the path is not in its shortest form")
		return
	}
	_, pattern := s.mux.Handler(req)
	if !s.knowsHost(names.Host(req.Host), pattern) {
		s.fail(w, req, problem(CodeHost, "this server is not called that"))
		return
	}
	if pattern != "" {
		s.mux.ServeHTTP(w, req)
		return
	}
	if methods := s.methodsOf(req); len(methods) > 0 {
		header.Set("Allow", strings.Join(methods, ", "))
		s.fail(w, req, problem(CodeMethod, "%s is not a method of this path, which has %s", req.Method, strings.Join(methods, ", ")))
		return
	}
	s.notFound(w, req, "there is no such path: /openapi.json lists them")
}

// notFound answers a request for an unknown path: a browser's with the page.
func (s *Server) notFound(w http.ResponseWriter, req *http.Request, why string) {
	if !page.Missing(w, req) {
		s.fail(w, req, problem(CodeNoRoute, "%s", why))
	}
}

// knowsHost reports whether a client may call the server by that name. A page of another site, under a name that leads here, may not even
// learn which paths there are.
func (s *Server) knowsHost(host, pattern string) bool {
	return len(s.config.Hosts) == 0 || slices.Contains(s.config.Hosts, host) ||
		slices.ContainsFunc(routes, func(r Route) bool { return r.AnyHost && r.Method+" "+r.Path == pattern })
}

// methodsOf returns the methods that a path has.
func (s *Server) methodsOf(req *http.Request) (methods []string) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := *req
		other.Method = method
		if _, pattern := s.mux.Handler(&other); pattern != "" {
			methods = append(methods, method)
		}
	}
	return methods
}

// recoverPanic answers for a handler that has panicked. The process and its runs continue.
func (s *Server) recoverPanic(w http.ResponseWriter, req *http.Request) {
	switch p := recover(); p {
	case nil:
	case http.ErrAbortHandler:
		panic(p)
	default:
		s.log.Error("a request has panicked", "method", req.Method, "path", req.URL.Path, "panic", p, "stack", string(debug.Stack()))
		s.fail(w, req, problem(CodePanic, "the server has failed to answer; its log says how"))
	}
}

// serve answers a request of a route.
func (s *Server) serve(w http.ResponseWriter, req *http.Request, r *Route) {
	if !r.AnyHost {
		defer s.requests.Begin()()
	}
	c := &exchange{Server: s, w: w, req: req, route: r}
	if c.measured(c.answer); c.feed != nil {
		c.feed.Send(req.Context(), s.ctx)
	}
}

// answer carries out the request, if it is admitted.
func (c *exchange) answer() {
	defer func() { c.lasts.Leave() }()
	r := c.route
	if err := c.admit(); err != nil {
		c.refuse(err)
		return
	}
	serve := func() error { return r.serve(c) }
	key, err := c.key()
	if key != "" && r.Once {
		serve = func() error { return c.once(key) }
	}
	if err == nil {
		err = serve()
	}
	if err != nil && err != errAnswered {
		c.refuse(err)
	}
}

// refuse answers with an error.
func (c *exchange) refuse(err error) {
	if gone, ok := errors.AsType[*Problem](context.Cause(c.req.Context())); ok {
		err = gone
	}
	c.code = problemOf(err).Code
	c.fail(c.w, c.req, err)
}

// exchange is a request and its answer.
type exchange struct {
	*Server
	w              http.ResponseWriter
	req            *http.Request
	route          *Route
	given          url.Values // parameters
	who            Identity
	id, code       string // of the request, in the log, and of the problem that was answered
	behalf         string // for whom the client acts; "": for itself
	started, named string // a run that it has started, and its other object, in the audit
	sent           []byte // the body, once it has been read
	read           bool   // it has been read

	lasts *standing.Member // set if the request lasts: it ends with the client's login or token
	feed  *frames.Stream   // to be sent; nil: the answer is sent
}

// admit refuses requests that must not be answered.
func (c *exchange) admit() error {
	if err := c.knownQuery(); err != nil || c.route.AnyHost {
		return cmp.Or(err, c.onBehalf())
	}
	if c.Server.ctx.Err() != nil {
		return coordinator.ErrShutdown
	}
	if err := http.NewCrossOriginProtection().Check(c.req); err != nil {
		return problem(CodeCrossOrigin, "a page of another site has made the request")
	}
	if c.route.Role != Nobody {
		if err := c.authenticate(); err != nil {
			return err
		}
	}
	if err := c.onBehalf(); err != nil || c.route.Role == Nobody {
		return err
	}
	if !c.tokens.Take(c.who.Name, time.Now()) {
		return problem(CodeRate, "the token is used too often: at most %d times a second", rateOfToken)
	}
	if c.who.Role < c.route.Role || c.route.Role == Worker && c.who.Role != Worker && c.who.Role != Admin {
		return problem(CodeForbidden, "this needs the role %s, and %s has the role %s", c.route.Role, c.who.Name, c.who.Role)
	}
	if c.who.Role == Observer && c.wantsLines() {
		return problem(CodeForbidden, "the command, and other clients that read lines of replies, need the role %s, because these have inputs and outputs: without Accept: %s the answer is for the role %s, too", Viewer, LinesType, Observer)
	}
	return nil
}

// onBehalf reads the person for whom the client acts.
func (c *exchange) onBehalf() (err error) {
	if c.behalf, err = names.Behalf(c.req.Header, c.who.Name); err != nil {
		return problem(CodeBadRequest, "%v", err).at("header/" + names.BehalfHeader)
	}
	return nil
}

func (c *exchange) authenticate() error {
	if c.who = c.config.Open; c.who.Role != Nobody {
		return nil
	}
	if c.req.Header.Get("Authorization") == "" {
		if c.who, _ = c.session(); c.who.Role != Nobody {
			return nil
		}
	}
	if token := c.bearer(); token != "" {
		if who, ok := c.config.Authenticate(token); ok {
			c.who = who
			return nil
		}
	}
	return c.unknown("send a token that is valid: Authorization: Bearer TOKEN")
}

// bearer returns the token that the client has sent; "": none.
func (c *exchange) bearer() string {
	scheme, token, _ := strings.Cut(c.req.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// unknown is the error of a request without a valid token or session. A client that tries often learns only that it tries too often.
func (c *exchange) unknown(why string) error {
	if !c.wrong.Take(forwarded.Client(c.req), time.Now()) {
		return problem(CodeRate, "there were too many requests without a valid token from this address")
	}
	c.w.Header().Set("WWW-Authenticate", "Bearer")
	return problem(CodeUnauthorized, "%s", why)
}

// knownQuery reads the parameters. It refuses unknown ones, and a query with an unreadable part, so that none is ignored.
func (c *exchange) knownQuery() (err error) {
	if c.given, err = url.ParseQuery(c.req.URL.RawQuery); err != nil {
		c.given = nil
		return problem(CodeBadRequest, "the query cannot be read: %% begins two hexadecimal digits, and ; is written %%3B").at("query")
	}
	for name, values := range c.given {
		if !slices.ContainsFunc(c.route.Query, func(p Param) bool { return p.Name == name }) {
			return problem(CodeBadRequest, "this route has no parameter of that name").at("query/" + name)
		}
		if len(values) > 1 && !slices.Contains(strings.Fields(c.route.Many), name) {
			return problem(CodeBadRequest, "the parameter is given more than once").at("query/" + name)
		}
		if name == dryParam.Name && values[0] != "true" {
			return problem(CodeBadRequest, "dry must be true, or be omitted").at("query/dry")
		}
	}
	return nil
}
