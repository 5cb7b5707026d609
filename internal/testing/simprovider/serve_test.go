package simprovider

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// wire hands out the raw connection of a plugin: the messages of the protocol are internal to the server
// library.
type wire struct {
	plugin.NetRPCUnsupportedPlugin
}

func (wire) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error { return nil }

func (wire) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// served is this test binary as a plugin.
type served struct {
	client *plugin.Client
	stderr *bytes.Buffer
	log    string
}

func start(t *testing.T, protocol, rules string) *served {
	t.Helper()
	dir := t.TempDir()
	s := &served{stderr: &bytes.Buffer{}, log: filepath.Join(dir, "log")}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), simcloud.EnvServe+"=1", simcloud.EnvDir+"="+filepath.Join(dir, "cloud"), simcloud.EnvLog+"="+s.log, simcloud.EnvProtocol+"="+protocol)
	if rules != "" {
		path := filepath.Join(dir, "rules.json")
		filetest.Write(t, path, rules)
		cmd.Env = append(cmd.Env, simcloud.EnvMisbehave+"="+path)
	}
	s.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: cookieKey, MagicCookieValue: cookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{5: {"provider": wire{}}, 6: {"provider": wire{}}},
		Cmd:              cmd, AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, AutoMTLS: true,
		Logger: hclog.New(&hclog.LoggerOptions{Output: io.Discard}), Stderr: s.stderr,
	})
	t.Cleanup(s.client.Kill)
	return s
}

// dispense connects to the provider.
func (s *served) dispense(t *testing.T) *grpc.ClientConn {
	t.Helper()
	rpc, err := s.client.Client()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := rpc.Dispense("provider")
	if err != nil {
		t.Fatal(err)
	}
	return raw.(*grpc.ClientConn)
}

func TestServe(t *testing.T) {
	for protocol, service := range map[string]string{"": "/tfplugin6.Provider/", "6": "/tfplugin6.Provider/", "5": "/tfplugin5.Provider/"} {
		s := start(t, protocol, "")
		conn := s.dispense(t)
		if err := conn.Invoke(t.Context(), service+"GetMetadata", &emptypb.Empty{}, &emptypb.Empty{}); err != nil {
			t.Errorf("protocol %q: %s", protocol, err)
		}
		l, err := simlog.ReadFile(s.log)
		if err != nil || l.Count(simlog.Filter{RPC: "GetMetadata"}) != 1 {
			t.Errorf("protocol %q: got the transcript %+v, %v, want one GetMetadata", protocol, l, err)
		}
	}
}

// TestServeCrash invokes ReadResource, whose first field is the type name, as is a StringValue's.
func TestServeCrash(t *testing.T) {
	for _, do := range []string{doExit, doPanic} {
		t.Run(do, func(t *testing.T) {
			s := start(t, "6", `[{"rpc":"ReadResource","type":"sim_thing","do":"`+do+`","text":"last words"}]`)
			conn := s.dispense(t)
			err := conn.Invoke(t.Context(), "/tfplugin6.Provider/ReadResource", wrapperspb.String(typeThing), &emptypb.Empty{})
			if err == nil {
				t.Error("the call of a provider that crashes succeeds")
			}
			s.client.Kill() // waits until standard error was read
			if !s.client.Exited() || !strings.Contains(s.stderr.String(), "last words") {
				t.Errorf("stderr = %q", s.stderr)
			}
			l, err := simlog.ReadFile(s.log)
			if c := l.Calls(simlog.Filter{RPC: "ReadResource"}); err != nil || len(c) != 1 || c[0].Aborted() || !strings.Contains(c[0].End.Err, "crashes on purpose") {
				t.Errorf("transcript: got %+v, %v, want one ReadResource that ended with its crash", c, err)
			}
		})
	}
}

func TestServeStart(t *testing.T) {
	for name, rules := range map[string]string{
		"garbage":        `[{"rpc":"Start","do":"garbage-stdout"}]`,
		"wrong protocol": `[{"rpc":"Start","do":"wrong-protocol"}]`,
		"exit":           `[{"rpc":"Start","do":"exit"}]`,
		"panic":          `[{"rpc":"Start","do":"panic"}]`,
		"wrong rules":    `[{"rpc":"Start","do":"dance"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := start(t, "6", rules).client.Client(); err == nil {
				t.Error("the handshake succeeds")
			}
		})
	}
}

func TestFromEnv(t *testing.T) {
	t.Setenv(simcloud.EnvDir, "d")
	t.Setenv(simcloud.EnvSchema, variantData)
	t.Setenv(simcloud.EnvLenient, "1")
	t.Setenv(simcloud.EnvMisbehave, filepath.Join(t.TempDir(), "none"))
	if _, err := FromEnv(); err == nil {
		t.Error("rules that cannot be read are passed over")
	}
	t.Setenv(simcloud.EnvMisbehave, "")
	o, err := FromEnv()
	if err != nil || o.Dir != "d" || o.Schema != variantData || !o.Lenient {
		t.Errorf("options: got %+v, %v, want the directory d, the schema %q, lenient", o, err, variantData)
	}
	t.Setenv(simcloud.EnvDir, t.TempDir())
	if _, err := newServer6().GetMetadata(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if _, err := newServer5().GetMetadata(t.Context(), nil); err != nil {
		t.Error(err)
	}
	t.Setenv(simcloud.EnvSchema, "nonsense")
	defer func() {
		if recover() == nil {
			t.Error("a wrong environment is accepted")
		}
	}()
	newServer6()
}
