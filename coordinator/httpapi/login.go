package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// login is a user who has logged in from a browser.
type login struct {
	who   Identity
	token string // "": by an invitation
}

// LoginBody begins a session with a token.
type LoginBody struct {
	Token string `json:"token"` // as sluice token create has printed it
}

// Me describes the caller of a request.
type Me struct {
	Name    string `json:"name"`    // the actor of its commands, in the journal
	Role    string `json:"role"`    // decides its rights
	Session bool   `json:"session"` // it has logged in, and can log out
}

// Invite returns the path of an address that logs a browser in, once, within an hour.
func (s *Server) Invite(who Identity) string {
	return "/login?key=" + url.QueryEscape(s.sessions.Invite(login{who: who}, time.Now()))
}

// cookieName returns the name of the cookie with the secret of a session. The prefix makes browsers refuse one that did not come by TLS
// from this very host. Without TLS the name has the port, since browsers share cookies between the ports of a host.
func (c *exchange) cookieName() string {
	if c.config.Secure {
		return "__Host-sluice"
	}
	port := (&url.URL{Host: c.req.Host}).Port()
	return "sluice-" + port
}

// cookie returns the cookie with the secret of a session.
func (c *exchange) cookie(secret string) *http.Cookie {
	return &http.Cookie{Name: c.cookieName(), Value: secret, Path: "/", HttpOnly: true, Secure: c.config.Secure, SameSite: http.SameSiteLaxMode}
}

// session returns the identity of the session of the request's cookie, and its secret.
func (c *exchange) session() (who Identity, secret string) {
	sent, err := c.req.Cookie(c.cookieName())
	if err != nil {
		return who, ""
	}
	if who = c.identityOf(sent.Value); who.Role == Nobody {
		return who, ""
	}
	return who, sent.Value
}

// identityOf returns the identity of the session with a secret, Nobody if there is none.
func (s *Server) identityOf(secret string) (who Identity) {
	found, ok := s.sessions.Of(secret, time.Now())
	if !ok {
		return who
	}
	if found.token == "" {
		return found.who
	}
	if who, ok = s.config.Authenticate(found.token); !ok { // it was revoked, or has expired
		s.sessions.End(secret)
		return Identity{}
	}
	return who
}

// enter begins a session.
func (c *exchange) enter(as login) {
	http.SetCookie(c.w, c.cookie(c.sessions.Begin(as, time.Now())))
	c.who = as.who
}

// acceptInvitation logs the invited browser in, and sends it to the page. A browser that is still logged in is sent there, too.
func acceptInvitation(c *exchange) error {
	if c.req.Method != http.MethodGet { // a program that only probes the address must not use it up
		c.w.Header().Set("Allow", http.MethodGet)
		return problem(CodeMethod, "%s is not a method of this path, which has GET", c.req.Method)
	}
	invited, ok := c.sessions.Accept(c.query("key"), time.Now())
	if ok {
		c.enter(invited)
	} else if who, _ := c.session(); who.Role == Nobody {
		return c.unknown("this address was used, or has expired: log in with a token, which sluice token create prints")
	}
	http.Redirect(c.w, c.req, "/", http.StatusSeeOther)
	return nil
}

// logIn begins a session with a token.
func logIn(c *exchange) error {
	var b LoginBody
	if err := c.body(&b); err != nil {
		return err
	}
	if c.config.Open.Role != Nobody {
		return problem(CodeBadRequest, "this server takes no tokens: every client has all rights")
	}
	token := strings.TrimSpace(b.Token)
	who, ok := c.config.Authenticate(token)
	if !ok {
		return c.unknown("the token is not valid")
	}
	c.enter(login{who, token})
	return c.reply(http.StatusOK, Me{who.Name, who.Role.String(), true})
}

// logOut ends the session of the request, if it has one.
func logOut(c *exchange) error {
	if _, secret := c.session(); secret != "" {
		c.sessions.End(secret)
	}
	gone := c.cookie("")
	gone.MaxAge = -1
	http.SetCookie(c.w, gone)
	return c.reply(http.StatusOK, Me{Role: Nobody.String()})
}

// showMe answers with the identity of the request.
func showMe(c *exchange) error {
	_, secret := c.session()
	return c.reply(http.StatusOK, Me{c.who.Name, c.who.Role.String(), secret != "" && c.req.Header.Get("Authorization") == ""})
}

// showSession answers with the identity of the browser's session, without refusing a browser that has none.
func showSession(c *exchange) error {
	if c.who = c.config.Open; c.who.Role == Nobody {
		c.who, _ = c.session()
	}
	return showMe(c)
}
