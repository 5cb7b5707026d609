package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/compat"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin/unary"
)

// ReattachConfig says where a running provider listens and which protocol it speaks.
type ReattachConfig struct {
	Protocol        string // of the connection: "grpc"
	ProtocolVersion int    // of the provider protocol; 0 means 5
	Addr            net.Addr
}

// Reattach connects to a running provider that was started, and will be ended, by another program, such as
// a debugger. Close only disconnects. The provider takes the program for the engine, the default one if there
// is none.
func Reattach(ctx context.Context, name string, engine compat.Engine, cfg *ReattachConfig) (provider.Provider, diag.List) {
	const summary = "Provider could not be reattached"
	protocol := cmp.Or(cfg.ProtocolVersion, 5) // for servers that predate the field
	if protocol != 5 && protocol != 6 {
		return nil, diag.Errorf(summary, "The running provider %s uses plugin protocol %d, and Mayfly supports 5 and 6.", name, protocol)
	}
	if cfg.Addr == nil {
		return nil, diag.Errorf(summary, "TF_REATTACH_PROVIDERS does not say where the running provider %s listens.", name)
	}
	if cfg.Protocol != protocolGRPC {
		return nil, diag.Errorf(summary, "The running provider %s doesn't serve over gRPC.", name)
	}
	dial := dialer(cfg.Addr, nil)
	// The client connects with the first call. Connect now, so that the error names the cause.
	probe, err := dial(ctx)
	if err != nil {
		return nil, diag.Errorf(summary, "The running provider %s cannot be reached: %s. Check that its process still runs, and that "+
			"TF_REATTACH_PROVIDERS has the text that it printed at its start.", name, err)
	}
	probe.Close()
	cl := connect(name, protocol, dial, nil)
	cl.engine = engine.OrDefault()
	return cl, nil
}

// Connect returns a provider that serves a version of the protocol, 5 or 6, where dial connects to. Close
// only disconnects, and then calls disconnected unless it is nil.
func Connect(name string, protocol int, dial func(context.Context) (net.Conn, error), disconnected func()) provider.Provider {
	return connect(name, protocol, dial, disconnected)
}

func connect(name string, protocol int, dial func(context.Context) (net.Conn, error), disconnected func()) *client {
	calls := unary.NewClient(dial)
	return newClient(name, protocol, calls, func() error {
		calls.Close()
		if disconnected != nil {
			disconnected()
		}
		return nil
	})
}

// ParseReattach parses the value of TF_REATTACH_PROVIDERS, a JSON object that maps provider addresses to
// where they listen. It returns nil for an empty string. A provider at one of the default registries of
// OpenTofu and Terraform stands for its namesake at the other one too, unless that is named itself: test
// frameworks write one, and configurations may mean the other.
//
//	{"registry.opentofu.org/hashicorp/aws": {"Protocol": "grpc", "ProtocolVersion": 6, "Pid": 4711, "Test": true,
//	  "Addr": {"Network": "unix", "String": "/tmp/plugin123"}}}
func ParseReattach(env string) (map[addr.Provider]*ReattachConfig, error) {
	if env == "" {
		return nil, nil
	}
	var entries map[string]struct {
		Protocol        string
		ProtocolVersion int
		Addr            struct{ Network, String string }
	}
	if err := json.Unmarshal([]byte(env), &entries); err != nil {
		return nil, fmt.Errorf("TF_REATTACH_PROVIDERS is not the JSON text that a provider prints at its start: %w", err)
	}
	configs := make(map[addr.Provider]*ReattachConfig, len(entries))
	for source, e := range entries {
		p, err := addr.ParseProvider(source)
		if err != nil && strings.Contains(source, "/-/") {
			continue // test frameworks add the legacy namespace, also with hosts where no provider can be in it
		}
		if err != nil {
			return nil, fmt.Errorf("TF_REATTACH_PROVIDERS names %q, which is not a provider address: %w", source, err)
		}
		at, err := resolve(e.Addr.Network, e.Addr.String)
		if err != nil {
			return nil, fmt.Errorf("TF_REATTACH_PROVIDERS has no usable address for %s: %w", source, err)
		}
		configs[p] = &ReattachConfig{Protocol: e.Protocol, ProtocolVersion: e.ProtocolVersion, Addr: at}
	}
	addNamesakes(configs)
	return configs, nil
}

// addNamesakes adds the namesakes of providers at the other one of the two default registries.
func addNamesakes(configs map[addr.Provider]*ReattachConfig) {
	for p, c := range maps.Clone(configs) {
		switch p.Hostname {
		case addr.DefaultHost:
			p.Hostname = addr.TerraformHost
		case addr.TerraformHost:
			p.Hostname = addr.DefaultHost
		}
		if configs[p] == nil {
			configs[p] = c
		}
	}
}

// resolve returns the address of a socket. Other networks are refused.
func resolve(network, address string) (net.Addr, error) {
	switch network {
	case "unix":
		return net.ResolveUnixAddr(network, address)
	case "tcp":
		return net.ResolveTCPAddr(network, address)
	default:
		return nil, fmt.Errorf("the network %q is neither \"unix\" nor \"tcp\"", network)
	}
}
