package policy

import (
	"fmt"
	"net/netip"
	"slices"
)

// special are networks that are not the public internet and that netip has no method for: RFC 6890 and its registry.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("fec0::/10"),
}

// Wrappers of IPv4 addresses in IPv6 ones: NAT64 (RFC 6052, 8215) and 6to4 (RFC 3056), with where the address begins.
var (
	nat64 = []netip.Prefix{netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/96")}
	sixTo = netip.MustParsePrefix("2002::/16")
)

// Address tells whether a server at this address may be called. Those of this machine, of private networks and of
// no network are denied: behind them stand services that trust whoever reaches them, such as those that hand out a
// cloud machine's credentials.
func (p *Policy) Address(ip netip.Addr) Verdict {
	ip = plain(ip)
	bad := !ip.IsValid() || !ip.IsGlobalUnicast() || ip.IsPrivate() ||
		slices.ContainsFunc(special, func(n netip.Prefix) bool { return n.Contains(ip) })
	if !bad {
		return Verdict{}
	}
	return Verdict{Decision: Deny, Rule: "private-address", Reason: fmt.Sprintf(
		"%s is an address of this machine or of a private network, which may not be called", ip)}
}

// plain takes an IPv4 address out of an IPv6 one, and drops the zone.
func plain(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if !ip.Is6() {
		return ip
	}
	b := ip.As16()
	switch {
	case slices.ContainsFunc(nat64, func(n netip.Prefix) bool { return n.Contains(ip) }):
		return netip.AddrFrom4([4]byte(b[12:16]))
	case sixTo.Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return ip
}
