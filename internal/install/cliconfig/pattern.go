package cliconfig

import (
	"errors"
	"fmt"
	"strings"

	registry "github.com/opentofu/registry-address/v2"
	"github.com/opentofu/svchost"

	"github.com/mayfly-iac/mayfly/addr"
)

// Pattern is a provider source address whose parts may be the wildcard "*".
type Pattern struct{ Host, Namespace, Type string }

// wildcard matches any value of a part.
const wildcard = "*"

// Matches reports whether p fits the pattern.
func (x Pattern) Matches(p addr.Provider) bool {
	return (x.Host == wildcard || x.Host == string(p.Hostname)) &&
		(x.Namespace == wildcard || x.Namespace == p.Namespace) &&
		(x.Type == wildcard || x.Type == p.Type)
}

// parsePattern parses a pattern such as "example.com/*/*", "hashicorp/random" or "*/*", which is short for
// all of the default host.
func parsePattern(s string) (Pattern, error) {
	x := Pattern{Host: string(addr.DefaultHost), Namespace: addr.DefaultNamespace}
	parts := strings.Split(s, "/")
	switch len(parts) {
	case 1:
		x.Type = parts[0]
	case 2:
		x.Namespace, x.Type = parts[0], parts[1]
	case 3:
		x.Host, x.Namespace, x.Type = parts[0], parts[1], parts[2]
	default:
		return x, errors.New("it must have the form HOST/NAMESPACE/TYPE, where * matches anything")
	}
	if x.Host == wildcard && (x.Namespace != wildcard || x.Type != wildcard) || x.Namespace == wildcard && x.Type != wildcard {
		return x, errors.New("after a *, all further parts must be *")
	}
	return x, x.normalise(len(parts) == 3)
}

// normalise brings the parts into the form of addresses, for comparing, and refuses those that no address
// can have.
func (x *Pattern) normalise(hostGiven bool) error {
	if hostGiven && x.Host != wildcard {
		host, err := svchost.ForComparison(x.Host)
		if err != nil {
			return fmt.Errorf("%q is not a host name", x.Host)
		}
		x.Host = string(host)
	}
	for _, part := range []*string{&x.Namespace, &x.Type} {
		if *part == wildcard {
			continue
		}
		norm, err := registry.ParseProviderPart(*part)
		if err != nil {
			return fmt.Errorf("%q: %w", *part, err)
		}
		*part = norm
	}
	return nil
}
