package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"github.com/mayfly-iac/mayfly/internal/provider"
)

// testPlugin makes the test binary a plugin, of which kind its value says.
const testPlugin = "GRPCPROVIDER_TEST_PLUGIN"

const fakeName = "example.com/test/fake"

func TestMain(m *testing.M) {
	var err error
	switch kind := os.Getenv(testPlugin); kind {
	case "":
		closeTime = time.Second
		goleak.VerifyTestMain(m)
		return
	case "5":
		err = tf5server.Serve(fakeName, func() tfprotov5.ProviderServer { return fake5{} })
	case "6":
		err = tf6server.Serve(fakeName, func() tfprotov6.ProviderServer { return fake{} })
	case "debug":
		err = serveForDebugger()
	case "engine": // starts a plugin, says where that listens, and does not end it
		err = startForever()
	case "deaf": // says that it serves, and ends on no request
		fmt.Println("1|6|tcp|127.0.0.1:1|grpc|")
		select {}
	case "silent":
		time.Sleep(time.Hour)
	case "dies":
		fmt.Fprintln(os.Stderr, "cannot find my licence")
		os.Exit(7)
	default: // a greeting
		fmt.Println(kind)
		time.Sleep(time.Hour)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serveForDebugger serves as a provider does in a debugger, until standard input ends, and prints where on a
// line.
func serveForDebugger() error {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, os.Stdin) // any end is the end
	}()
	configs := make(chan *plugin.ReattachConfig)
	go func() {
		c := <-configs
		line, err := json.Marshal(map[string]any{"hashicorp/fake": map[string]any{
			"Protocol": c.Protocol, "ProtocolVersion": c.ProtocolVersion, "Pid": c.Pid, "Test": c.Test,
			"Addr": map[string]string{"Network": c.Addr.Network(), "String": c.Addr.String()},
		}})
		if err != nil {
			panic(err)
		}
		fmt.Println(string(line))
	}()
	server := func() tfprotov6.ProviderServer { return fake{} }
	return tf6server.Serve(fakeName, server, tf6server.WithDebug(ctx, configs, make(chan struct{})))
}

// startForever starts a plugin, prints where it listens on a line, and waits to be killed.
func startForever() error {
	p, diags := Start(context.Background(), pluginCommand("6"))
	if err := diags.Err(); err != nil {
		return err
	}
	fields := p.(*client).proc.handshakeFields()
	fmt.Println(fields[2], fields[3])
	select {}
}

func pluginCommand(kind string) Command {
	// The race detector delays the exit by default.
	env := append(os.Environ(), testPlugin+"="+kind, "TF_LOG_SDK=off", "GORACE=atexit_sleep_ms=0")
	return Command{Path: os.Args[0], Name: fakeName, Env: env}
}

func start(t *testing.T, c Command) *client {
	t.Helper()
	p, diags := Start(t.Context(), c)
	return opened(t, p, diags.Err())
}

func opened(t *testing.T, p provider.Provider, err error) *client {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	c := p.(*client)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func inMemory(t *testing.T) *client {
	t.Helper()
	t.Setenv("TF_LOG_SDK", "off")
	p := connectInMemory(func(s *grpc.Server) {
		plug := tf6server.GRPCProviderPlugin{GRPCProvider: func() tfprotov6.ProviderServer { return fake{} }, Name: fakeName}
		if err := plug.GRPCServer(nil, s); err != nil {
			t.Fatal(err)
		}
	}, 6)
	return opened(t, p, nil)
}

// everyKind runs a test with a process of each protocol and with a provider in memory.
func everyKind(t *testing.T, f func(t *testing.T, c *client)) {
	t.Run("protocol 5", func(t *testing.T) { f(t, start(t, pluginCommand("5"))) })
	t.Run("protocol 6", func(t *testing.T) { f(t, start(t, pluginCommand("6"))) })
	t.Run("in memory", func(t *testing.T) { f(t, inMemory(t)) })
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}
