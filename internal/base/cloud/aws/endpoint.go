package aws

import (
	"context"
	"net"
	"net/url"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// suffixes are the domains of AWS's partitions.
var suffixes = []string{
	"amazonaws.com", "amazonaws.com.cn", "amazonaws.eu", "c2s.ic.gov", "sc2s.sgov.gov", "cloud.adc-e.uk", "csp.hci.ic.gov",
}

// partitions are the domains of regions that begin with a prefix, where that is not the usual one.
var partitions = map[string]string{
	"cn-": "amazonaws.com.cn", "eusc-": "amazonaws.eu", "us-iso-": "c2s.ic.gov", "us-isob-": "sc2s.sgov.gov",
	"eu-isoe-": "cloud.adc-e.uk", "us-isof-": "csp.hci.ic.gov", "eu-isof-": "csp.hci.ic.gov",
}

// Suffix returns the domain of the partition of AWS that a host belongs to, "" if it is not a host of AWS.
func Suffix(host string) string {
	for _, s := range suffixes {
		if strings.HasSuffix(host, "."+s) {
			return s
		}
	}
	return ""
}

// hostable are the names of buckets that a wildcard certificate covers as the first part of a host name.
var hostable = pattern.New(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)

// endpoint returns the address of a bucket at AWS without a slash at its end. The user's settings may name
// another server, or AWS's servers for FIPS 140 or IPv6.
func (a *Account) endpoint(ctx context.Context, bucket, suffix string) (string, error) {
	server, err := a.server(ctx, "s3", suffix)
	if err != nil {
		return "", err
	}
	return at(server, bucket)
}

// regional returns the address of a service in the account's region.
func (a *Account) regional(ctx context.Context, service string) (string, error) {
	suffix := suffixes[0]
	for prefix, own := range partitions {
		if strings.HasPrefix(a.config.Region, prefix) {
			suffix = own
		}
	}
	return a.server(ctx, service, suffix)
}

// server returns the address of a service in the account's region, with the domain suffix.
func (a *Account) server(ctx context.Context, service, suffix string) (string, error) {
	configured, err := a.configured(ctx, service)
	if err != nil {
		return "", err
	}
	if configured != "" {
		return configured, nil
	}
	fips, err := flag(ctx, a, func(source any) (sdk.FIPSEndpointState, bool, error) {
		if s, ok := source.(interface {
			GetUseFIPSEndpoint(context.Context) (sdk.FIPSEndpointState, bool, error)
		}); ok {
			return s.GetUseFIPSEndpoint(ctx)
		}
		return 0, false, nil
	})
	if err != nil {
		return "", err
	}
	dual, err := flag(ctx, a, func(source any) (sdk.DualStackEndpointState, bool, error) {
		if s, ok := source.(interface {
			GetUseDualStackEndpoint(context.Context) (sdk.DualStackEndpointState, bool, error)
		}); ok {
			return s.GetUseDualStackEndpoint(ctx)
		}
		return 0, false, nil
	})
	if err != nil {
		return "", err
	}
	host := service
	if fips == sdk.FIPSEndpointStateEnabled {
		host += "-fips"
	}
	switch {
	case dual != sdk.DualStackEndpointStateEnabled:
	case service == "s3":
		host += ".dualstack"
	case suffix == suffixes[0]:
		suffix = "api.aws"
	}
	return "https://" + host + "." + a.config.Region + "." + suffix, nil
}

// configured returns the server that the user has configured for a service, "" for none.
func (a *Account) configured(ctx context.Context, service string) (string, error) {
	ignore, err := flag(ctx, a, func(source any) (bool, bool, error) {
		if s, ok := source.(interface {
			GetIgnoreConfiguredEndpoints(context.Context) (bool, bool, error)
		}); ok {
			return s.GetIgnoreConfiguredEndpoints(ctx)
		}
		return false, false, nil
	})
	if ignore || err != nil {
		return "", err
	}
	own, err := flag(ctx, a, func(source any) (string, bool, error) {
		if s, ok := source.(interface {
			GetServiceBaseEndpoint(context.Context, string) (string, bool, error)
		}); ok {
			return s.GetServiceBaseEndpoint(ctx, strings.ToUpper(service))
		}
		return "", false, nil
	})
	if own == "" && err == nil && a.config.BaseEndpoint != nil {
		own = *a.config.BaseEndpoint
	}
	return own, err
}

// at returns the address of a bucket at a server: with the bucket's name in the host name if it fits there.
func at(server, bucket string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	if hostable().MatchString(bucket) && net.ParseIP(u.Hostname()) == nil {
		u.Host = bucket + "." + u.Host
	} else {
		u.Path += "/" + bucket
	}
	return u.String(), nil
}
