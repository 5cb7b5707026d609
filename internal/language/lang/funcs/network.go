package funcs

import (
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"strings"

	gocidr "github.com/apparentlymart/go-cidr/cidr"
	"github.com/hashicorp/go-cty-funcs/cidr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/gocty"
)

var networkFuncs = map[string]function.Function{
	"cidrcontains": cidrcontainsFunc,
	"cidrhost":     cidrhostFunc,
	"cidrnetmask":  textFunc("prefix", cidrnetmask),
	"cidrsubnet":   cidrsubnetFunc,
	"cidrsubnets":  cidrsubnetsFunc,
}

// trimZeros removes leading zeros from the numbers of an IPv4 address, which existing configurations may have
// and net rejects. They have always been decimal.
func trimZeros(s string) string {
	if strings.Contains(s, ":") {
		return s
	}
	addr, mask, hasMask := strings.Cut(s, "/")
	octets := strings.Split(addr, ".")
	for i, octet := range octets {
		if trimmed := strings.TrimLeft(octet, "0"); trimmed != "" {
			octets[i] = trimmed
		} else if octet != "" {
			octets[i] = "0"
		}
	}
	addr = strings.Join(octets, ".")
	if hasMask {
		addr += "/" + mask
	}
	return addr
}

func parsePrefix(s string) (*net.IPNet, error) {
	_, network, err := net.ParseCIDR(trimZeros(s))
	if err != nil {
		return nil, fmt.Errorf("invalid CIDR expression: invalid CIDR address: %s", s)
	}
	return network, nil
}

// cidrcontainsFunc answers whether an address, or all addresses of a prefix, lie within a prefix.
var cidrcontainsFunc = function.New(&function.Spec{
	Params:       []function.Parameter{stringParam("containing_prefix"), stringParam("contained_ip_or_prefix")},
	Type:         function.StaticReturnType(cty.Bool),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		outer, err := parsePrefix(args[0].AsString())
		if err != nil {
			return cty.NilVal, err
		}
		inner := args[1].AsString()
		first := net.ParseIP(trimZeros(inner))
		last := first
		if first == nil {
			network, err := parsePrefix(inner)
			if err != nil {
				return cty.NilVal, fmt.Errorf("invalid IP address or prefix: %s", inner)
			}
			first, last = gocidr.AddressRange(network)
		}
		if (first.To4() == nil) != (outer.IP.To4() == nil) {
			return cty.NilVal, fmt.Errorf("address family mismatch: %s vs. %s", args[0].AsString(), inner)
		}
		return cty.BoolVal(outer.Contains(first) && outer.Contains(last)), nil
	},
})

// cidrhostFunc takes host numbers of any size, since an IPv6 prefix has more hosts than an int counts;
// negative ones count from the end.
var cidrhostFunc = function.New(&function.Spec{
	Params:       []function.Parameter{stringParam("prefix"), {Name: "hostnum", Type: cty.Number}},
	Type:         function.StaticReturnType(cty.String),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		var host *big.Int
		if err := gocty.FromCtyValue(args[1], &host); err != nil {
			return cty.NilVal, err
		}
		network, err := parsePrefix(args[0].AsString())
		if err != nil {
			return cty.NilVal, err
		}
		ip, err := gocidr.HostBig(network, host)
		if err != nil {
			return cty.NilVal, err
		}
		return cty.StringVal(ip.String()), nil
	},
})

// cidrnetmask returns the mask in the notation of IPv4. There is none for IPv6.
func cidrnetmask(prefix string) (string, error) {
	network, err := parsePrefix(prefix)
	if err != nil {
		return "", err
	}
	if network.IP.To4() == nil {
		return "", fmt.Errorf("IPv6 addresses cannot have a netmask: %s", prefix)
	}
	return net.IP(network.Mask).String(), nil
}

// cidrsubnetFunc takes network numbers of any size and extensions over 32 bits, which IPv6 needs.
var cidrsubnetFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		stringParam("prefix"), {Name: "newbits", Type: cty.Number}, {Name: "netnum", Type: cty.Number},
	},
	Type:         function.StaticReturnType(cty.String),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		var newbits int
		if err := gocty.FromCtyValue(args[1], &newbits); err != nil {
			return cty.NilVal, err
		}
		var netnum *big.Int
		if err := gocty.FromCtyValue(args[2], &netnum); err != nil {
			return cty.NilVal, err
		}
		network, err := parsePrefix(args[0].AsString())
		if err != nil {
			return cty.NilVal, err
		}
		if ones, _ := network.Mask.Size(); newbits < -ones {
			return cty.NilVal, errors.New("newbits would make the prefix shorter than zero bits")
		}
		subnet, err := gocidr.SubnetBig(network, newbits, netnum)
		if err != nil {
			return cty.NilVal, err
		}
		return cty.StringVal(subnet.String()), nil
	},
})

// cidrsubnetsFunc is the library's, on the canonical form of the prefix. The library has no extensions over
// 32 bits, which IPv6 needs.
var cidrsubnetsFunc = function.New(&function.Spec{
	Params:       []function.Parameter{stringParam("prefix")},
	VarParam:     cidr.SubnetsFunc.VarParam(),
	Type:         function.StaticReturnType(cty.List(cty.String)),
	RefineResult: notNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		network, err := parsePrefix(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		if network.IP.To4() == nil && slices.ContainsFunc(args[1:], func(v cty.Value) bool { return v.GreaterThan(cty.NumberIntVal(32)).True() }) {
			return longSubnets(network, args[1:])
		}
		return cidr.Subnets(cty.StringVal(network.String()), args[1:]...)
	},
})

// longSubnets returns consecutive subnets of an IPv6 prefix, each at the first address that its size allows.
func longSubnets(network *net.IPNet, newbits []cty.Value) (cty.Value, error) {
	ones, bits := network.Mask.Size()
	first := new(big.Int).SetBytes(network.IP.To16())
	next, end := new(big.Int).Set(first), new(big.Int).Add(first, new(big.Int).Lsh(big.NewInt(1), uint(bits-ones)))
	before := ""
	out := make([]cty.Value, 0, len(newbits))
	for i, v := range newbits {
		var n int
		if err := gocty.FromCtyValue(v, &n); err != nil {
			return cty.NilVal, function.NewArgError(i+1, err)
		}
		switch {
		case n < 1:
			return cty.NilVal, function.NewArgErrorf(i+1, "must extend prefix by at least one bit")
		case n > bits-ones:
			return cty.NilVal, function.NewArgErrorf(i+1, "would extend prefix to more than %d bits, which is too long for an IPv6 address", bits)
		}
		size := new(big.Int).Lsh(big.NewInt(1), uint(bits-ones-n))
		if rest := new(big.Int).Mod(next, size); rest.Sign() > 0 {
			next.Add(next, size).Sub(next, rest)
		}
		subnet := net.IPNet{IP: next.FillBytes(make(net.IP, net.IPv6len)), Mask: net.CIDRMask(ones+n, bits)}
		if next.Add(next, size).Cmp(end) > 0 {
			return cty.NilVal, function.NewArgErrorf(i+1, "not enough remaining address space for a subnet with a prefix of %d bits after %s", ones+n, before)
		}
		before = subnet.String()
		out = append(out, cty.StringVal(before))
	}
	return cty.ListVal(out), nil
}
