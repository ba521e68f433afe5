package serving

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNoHostIsOpenToANetwork(t *testing.T) {
	for want, f := range map[string]Flags{
		"--no-auth is not for a host --behind-proxy": {Listen: "127.0.0.1:0", NoAuth: true, Proxy: "10.0.0.7/32"},
		"0.0.0.0/0 is wider than any":                {Listen: "0.0.0.0:0", Proxy: "0.0.0.0/0", Hosts: []string{"x"}},
		"8.0.0.0/7 is wider than any":                {Listen: "10.0.0.1:0", Proxy: "8.0.0.0/7"},
		"::/0 is wider than any":                     {Listen: "[::]:0", Proxy: "::/0", Hosts: []string{"x"}},
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
