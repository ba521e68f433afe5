package forwarded

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheClientIsTheLastThatIsNoProxy(t *testing.T) {
	for _, c := range []struct {
		peer    string
		headers []string
		want    string
	}{
		{"10.0.0.7:4000", nil, "10.0.0.7:4000"},
		{"10.0.0.7:4000", []string{""}, "10.0.0.7:4000"},
		{"10.0.0.7:4000", []string{"192.0.2.1"}, "192.0.2.1:0"},
		{"10.0.0.7:4000", []string{"198.51.100.9, 192.0.2.1"}, "192.0.2.1:0"},
		{"10.0.0.7:4000", []string{"198.51.100.9", "192.0.2.1, 10.0.0.3"}, "192.0.2.1:0"},
		{"10.0.0.7:4000", []string{"10.0.0.5, 10.0.0.3"}, "10.0.0.5:0"},
		{"10.0.0.7:4000", []string{"192.0.2.1, made up"}, "10.0.0.7:4000"},
		{"10.0.0.7:4000", []string{"192.0.2.1, made up, 10.0.0.3"}, "10.0.0.3:0"},
		{"10.0.0.7:4000", []string{"192.0.2.1:99"}, "192.0.2.1:0"},
		{"10.0.0.7:4000", []string{"[2001:db8::1]:99"}, "[2001:db8::1]:0"},
		{"10.0.0.7:4000", []string{"2001:db8::1%eth0"}, "[2001:db8::1]:0"},
		{"10.0.0.7:4000", []string{"::ffff:192.0.2.1"}, "192.0.2.1:0"},
		{"[::ffff:10.0.0.7]:4000", []string{"192.0.2.1"}, "192.0.2.1:0"},
		{"192.0.2.77:4000", []string{"198.51.100.9"}, "192.0.2.77:4000"},
		{"@", []string{"198.51.100.9"}, "@"},
	} {
		req := httptest.NewRequest("GET", "/", nil)
		req.RemoteAddr = c.peer
		for _, h := range c.headers {
			req.Header.Add("x-forwarded-for", h)
		}
		seen := ""
		By(netip.MustParsePrefix("10.0.0.0/28"), http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { seen = req.RemoteAddr })).ServeHTTP(httptest.NewRecorder(), req)
		require.Equal(t, c.want, seen, "%+v", c)
		require.Equal(t, c.peer, req.RemoteAddr)
	}
}

func TestANetworkOfIPv6IsOneClient(t *testing.T) {
	client := func(address string) string {
		req := httptest.NewRequest("GET", "/", nil)
		req.RemoteAddr = address
		return Client(req)
	}
	require.Equal(t, client("[2001:db8::1]:99"), client("[2001:db8::ffff:ffff:ffff:ffff%eth0]:7"))
	require.NotEqual(t, client("[2001:db8::1]:99"), client("[2001:db8:0:1::1]:99"))
	require.Equal(t, "192.0.2.1", client("192.0.2.1:99"))
	require.Equal(t, "192.0.2.1", client("[::ffff:192.0.2.1]:99"))
	require.NotEqual(t, client("192.0.2.1:99"), client("192.0.2.2:99"))
	require.NotEmpty(t, client("@"), "of a socket")
}
