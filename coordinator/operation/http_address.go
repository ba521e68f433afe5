package operation

import (
	"net/netip"
	"slices"
)

// checkAddress refuses link-local addresses and the like. Cloud providers serve the credentials of a machine there, and the input of a
// workflow must not be able to fetch them. An address is also refused if it embeds a refused one, because a gateway on the way
// could translate it.
func checkAddress(ip netip.Addr) error {
	ip = ip.Unmap().WithZone("")
	if slices.ContainsFunc(append(embedded(ip), ip), isRefused) {
		return &Error{Code: CodeAddressRefused, Message: "connections to " + ip.String() + " are not allowed", Permanent: true}
	}
	return nil
}

func isRefused(ip netip.Addr) bool {
	return ip.IsLinkLocalUnicast() || ip.IsMulticast() || metadataAddresses[ip]
}

// metadataAddresses are the addresses of metadata services of cloud providers that are not link-local.
var metadataAddresses = map[netip.Addr]bool{
	netip.MustParseAddr("fd00:ec2::254"):   true, // Amazon
	netip.MustParseAddr("fd20:ce::254"):    true, // Google
	netip.MustParseAddr("100.100.100.200"): true, // Alibaba
	netip.MustParseAddr("168.63.129.16"):   true, // Azure
	netip.MustParseAddr("192.0.0.192"):     true, // Oracle
}

// embeddings lists the prefixes of IPv6 addresses that embed an IPv4 address, with the positions of its bytes.
var embeddings = []struct {
	prefix   netip.Prefix
	at       [4]int
	inverted bool
}{
	{prefix: netip.MustParsePrefix("::/96"), at: [4]int{12, 13, 14, 15}},           // IPv4-compatible: RFC 4291
	{prefix: netip.MustParsePrefix("::ffff:0:0:0/96"), at: [4]int{12, 13, 14, 15}}, // IPv4-translated: RFC 2765
	{prefix: netip.MustParsePrefix("64:ff9b::/96"), at: [4]int{12, 13, 14, 15}},    // NAT64: RFC 6052
	{prefix: netip.MustParsePrefix("64:ff9b:1::/48"), at: [4]int{12, 13, 14, 15}},  // NAT64 of a site: RFC 8215; the site chooses
	{prefix: netip.MustParsePrefix("64:ff9b:1::/48"), at: [4]int{6, 7, 9, 10}},     // the length of its prefix: 96, 48, 56 or 64 bits
	{prefix: netip.MustParsePrefix("64:ff9b:1::/48"), at: [4]int{7, 9, 10, 11}},
	{prefix: netip.MustParsePrefix("64:ff9b:1::/48"), at: [4]int{9, 10, 11, 12}},
	{prefix: netip.MustParsePrefix("2002::/16"), at: [4]int{2, 3, 4, 5}},                     // 6to4: RFC 3056
	{prefix: netip.MustParsePrefix("2001::/32"), at: [4]int{4, 5, 6, 7}},                     // Teredo: RFC 4380, its server
	{prefix: netip.MustParsePrefix("2001::/32"), at: [4]int{12, 13, 14, 15}, inverted: true}, // and its client
}

// embedded returns the IPv4 addresses that may be embedded in an IPv6 address.
func embedded(ip netip.Addr) []netip.Addr {
	var list []netip.Addr
	bytes := ip.As16()
	for _, e := range embeddings {
		if !e.prefix.Contains(ip) {
			continue
		}
		var v4 [4]byte
		for i, at := range e.at {
			v4[i] = bytes[at]
			if e.inverted {
				v4[i] = ^v4[i]
			}
		}
		list = append(list, netip.AddrFrom4(v4))
	}
	return list
}
