package operation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/template"
)

func TestEmbeddedAddressesAreChecked(t *testing.T) {
	for text, refused := range map[string]bool{
		"169.254.169.254": true, "169.254.0.1": true, "224.0.0.1": true, "100.100.100.200": true, "168.63.129.16": true, "192.0.0.192": true,
		"fe80::1": true, "fe80::1%lo": true, "ff02::1": true, "fd00:ec2::254": true, "fd20:ce::254": true,
		"::ffff:169.254.169.254": true, "::169.254.169.254": true, "::ffff:0:169.254.169.254": true,
		"64:ff9b::a9fe:a9fe": true, "64:ff9b::100.100.100.200": true, // NAT64
		"64:ff9b:1::a9fe:a9fe": true, "64:ff9b:1:a9fe:a9:fe00::": true,
		"64:ff9b:1:aba9:fe:a9fe::": true, "64:ff9b:1:abcd:a9:fea9:fe00:0": true, // by prefixes of 96, 48, 56 and 64 bits
		"2002:a9fe:a9fe::1":             true,  // 6to4
		"2001:0:a9fe:a9fe::1":           true,  // a Teredo server
		"2001:0:102:304:0:0:5601:5601":  true,  // a Teredo client: inverted
		"2001:0:102:304:0:0:a9fe:a9fe":  false, // not inverted
		"2001:1::a9fe:a9fe":             false,
		"2003:a9fe:a9fe::1":             false,
		"64:ff9b::8.8.8.8":              false,
		"64:ff9b:2::a9fe:a9fe":          false,
		"127.0.0.1":                     false,
		"10.0.0.1":                      false,
		"::1":                           false,
		"::":                            false,
		"8.8.8.8":                       false,
		"::ffff:10.0.0.1":               false,
		"2a00:1450:4001:81c::a9fe:a9fe": false,
	} {
		t.Run(text, func(t *testing.T) {
			err := operation.Reachable(netip.MustParseAddr(text))
			require.Equal(t, refused, err != nil, "%v", err)
			if refused {
				e := failure(t, err)
				require.Equal(t, operation.CodeAddressRefused, e.Code)
				require.True(t, e.Permanent)
			}
		})
	}
}

// Addresses are checked before a request is sent to a proxy.
func TestAProxyDoesNotBypassTheCheck(t *testing.T) {
	var asked []string
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Host)
		if r.Host == "turns.example" {
			http.Redirect(w, r, "http://turns.example:80/latest", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "of "+r.Host)
	})
	at, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	turned := false
	lookup := func(_ context.Context, _, host string) ([]netip.Addr, error) {
		addresses := map[string][]string{
			"fine.example": {"192.0.2.1"}, "inside.example": {"10.0.0.1"}, "link.example": {"192.0.2.1", "169.254.169.254"},
			"nat64.example": {"64:ff9b::a9fe:a9fe"}, "turns.example": {"192.0.2.1"},
		}[host]
		if host == "turns.example" && turned {
			addresses = []string{"169.254.169.254"}
		}
		turned = host == "turns.example"
		if addresses == nil {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
		var list []netip.Addr
		for _, a := range addresses {
			list = append(list, netip.MustParseAddr(a))
		}
		return list, nil
	}
	for _, tt := range []struct{ url, code, asked string }{
		{"http://fine.example/", "", "fine.example"},
		{"http://inside.example:8080/", "", "inside.example:8080"},
		{"http://192.0.2.7/", "", "192.0.2.7"},
		{"http://link.example/", operation.CodeAddressRefused, ""},
		{"https://link.example/", operation.CodeAddressRefused, ""},
		{"http://nat64.example/", operation.CodeAddressRefused, ""},
		{"http://169.254.169.254/", operation.CodeAddressRefused, ""},
		{"http://[64:ff9b::a9fe:a9fe]/", operation.CodeAddressRefused, ""},
		{"http://[fe80::1%25lo]/", operation.CodeAddressRefused, ""},
		{"http://metadata.internal/", operation.CodeTransport, ""}, // only the proxy may resolve it
		{"http://turns.example/", operation.CodeAddressRefused, "turns.example"},
	} {
		t.Run(tt.url, func(t *testing.T) {
			asked = nil
			caller := operation.WithProxy(bind(t, template.Binding{HTTP: &template.HTTP{URL: tt.url}}), at, lookup)
			out, err := caller.Call(newCall(nil))
			if tt.code == "" {
				require.NoError(t, err)
				require.Equal(t, "of "+tt.asked, out.(map[string]any)["body"])
			} else {
				require.Equal(t, tt.code, failure(t, err).Code, err)
			}
			require.Equal(t, tt.asked, fmt.Sprint(append(asked, "")[0]))
		})
	}
}

func TestTheEndOfACallEndsItsLookup(t *testing.T) {
	asked := make(chan bool)
	lookup := func(ctx context.Context, _, _ string) ([]netip.Addr, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	b := bind(t, template.Binding{HTTP: &template.HTTP{URL: "http://slow.example/"}})
	c := newCall(nil)
	done := start(operation.WithProxy(b, &url.URL{Scheme: "http", Host: "127.0.0.1:1"}, lookup), c)
	<-asked
	c.End(errors.New("aborted by ann"))
	require.Equal(t, operation.CodeCancelled, failure(t, <-done).Code)
}
