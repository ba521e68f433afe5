package serving

import (
	"bytes"
	"context"
	"log/slog"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

func TestNoHostIsOpenToANetwork(t *testing.T) {
	for want, f := range map[string]Flags{
		"--no-auth is not for a host --behind-proxy": {Listen: "127.0.0.1:0", NoAuth: true, Proxy: "10.0.0.7/32"},
		"0.0.0.0/0 contains every address":           {Listen: "0.0.0.0:0", Proxy: "0.0.0.0/0", Hosts: []string{"x"}},
		"7.7.7.7/0 contains every address":           {Listen: "127.0.0.1:0", Proxy: "7.7.7.7/0", Cert: "c.pem", Key: "k.pem"},
		"8.0.0.0/7 is wider than any":                {Listen: "10.0.0.1:0", Proxy: "8.0.0.0/7"},
		"::/0 contains every address":                {Listen: "[::]:0", Proxy: "::/0", Hosts: []string{"x"}, Cert: "c.pem", Key: "k.pem"},
		"f000::/4 is wider than any":                 {Listen: "[fd00::1]:0", Proxy: "f000::/4"},
		"--no-auth is only for loopback":             {Listen: "10.0.0.1:0", NoAuth: true},
		`--host "a/b"`:                               {Listen: "127.0.0.1:0", Hosts: []string{"a/b"}},
		`--host "a:80"`:                              {Listen: "127.0.0.1:0", Hosts: []string{"c", "a:80"}},
		`--host "a@b"`:                               {Listen: "127.0.0.1:0", Hosts: []string{"a@b"}},
		`--host ""`:                                  {Listen: "127.0.0.1:0", Hosts: []string{""}},
		"10.0.0.1:0 is open to a network":            {Listen: "10.0.0.1:0"},
	} {
		require.ErrorContains(t, f.Check(), want)
	}
	for _, f := range []Flags{
		{Listen: "127.0.0.1:0", NoAuth: true}, {Listen: "127.0.0.1:0", Proxy: "127.0.0.1/32"}, {Listen: "10.0.0.1:0", Proxy: "10.0.0.0/8"},
		{Listen: "[fd00::1]:0", Proxy: "fc00::/7"}, {Listen: "127.0.0.1:0", Hosts: []string{"sluice.example.org", "my_host", "127.0.0.2", "::1"}},
	} {
		require.NoError(t, f.Check())
	}
}

// With TLS, and within private networks of IPv6, a range may be wider than the addresses of proxies alone.
func TestAWideRangeOfProxiesIsWarnedOf(t *testing.T) {
	for text, want := range map[string]bool{
		"126.0.0.0/7": true, "10.0.0.0/8": false, "10.0.0.7/32": false, "fc00::/7": true, "2001:db8::/31": true, "2001:db8::/32": false, "::1/128": false,
	} {
		require.Equal(t, want, isWide(netip.MustParsePrefix(text)), text)
	}
	for proxy, want := range map[string]bool{"fc00::/7": true, "127.0.0.1/32": false, "": false} {
		var log bytes.Buffer
		engine, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{})
		require.NoError(t, err)
		dir := t.TempDir()
		record, err := audit.Open(dir, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		f := Flags{Listen: "127.0.0.1:0", Proxy: proxy}
		_, err = f.Start(t.Context(), engine, record, dir, "", "ann", slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, err)
		require.NoError(t, engine.Shutdown(context.Background()))
		require.Equal(t, want, bytes.Contains(log.Bytes(), []byte("can forge client addresses")), proxy)
	}
}
