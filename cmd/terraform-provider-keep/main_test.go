package main

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

const roleEnv = "KEEP_PLUGIN_TEST_SERVE"

// TestMain turns the test binary into the plugin when asked to.
func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// connection gives the bare gRPC connection: what is tested here is the way there.
type connection struct {
	plugin.NetRPCUnsupportedPlugin
}

func (connection) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error { return nil }

func (connection) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

func TestHandshake(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleEnv+"=1")
	client := plugin.NewClient(&plugin.ClientConfig{
		Cmd: cmd,
		HandshakeConfig: plugin.HandshakeConfig{
			MagicCookieKey: "TF_PLUGIN_MAGIC_COOKIE", MagicCookieValue: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
		},
		VersionedPlugins: map[int]plugin.PluginSet{5: {"provider": connection{}}, 6: {"provider": connection{}}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         true,
		Logger:           hclog.NewNullLogger(),
	})
	defer client.Kill()
	session, err := client.Client()
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Ping(); err != nil {
		t.Error(err)
	}
	if got := client.NegotiatedVersion(); got != 6 {
		t.Errorf("protocol: got %d, want 6", got)
	}
}

func TestStartedByHandFails(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleEnv+"=1")
	if out, err := cmd.CombinedOutput(); err == nil || len(out) == 0 {
		t.Errorf("%v: %q", err, out)
	}
}
