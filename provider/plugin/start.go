package plugin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/provider"
	"github.com/mayfly-iac/mayfly/provider/plugin/unary"
)

// Command describes how to run a provider's executable.
type Command struct {
	Path string
	Args []string
	Env  []string // the whole environment; nil means that of this process
	Dir  string   // working directory; "" means that of this process
	Name string   // the provider's address, for error messages
	// Plain leaves the connection to the process unencrypted, so that it can be observed.
	Plain bool
	// Stderr is called with every line that the provider writes to standard error, one at a time. If it is
	// nil, lines are dropped and the provider's logging is turned off. It must not block.
	Stderr func(line string)
	// Schemas lets processes of the same executable share one schema response; nil for none.
	Schemas SchemaCache
}

// SchemaCache keeps the schema response of one version of one provider. Its methods may be called
// concurrently.
type SchemaCache interface {
	// Load returns a response saved for a version of the protocol, or nil. The caller must not modify it.
	Load(protocol int) []byte
	// Save is called with the response of a provider that need not be asked for it again. The bytes must
	// not be modified.
	Save(protocol int, response []byte)
}

// The name under which the plugin library keeps the service, and how long a plugin may take to be ready to
// serve.
const (
	pluginName = "provider"
	// startTime is how long a plugin may take to be ready to serve.
	startTime = time.Minute
)

// closeTime is how long a plugin may take to end by itself before it is killed. Tests set it.
var closeTime = 5 * time.Second

// handshake is the cookie that providers of the ecosystem expect in their environment. Without it they
// print a notice for people who start them by hand. It is not a secret.
var handshake = plugin.HandshakeConfig{
	MagicCookieKey:   "TF_PLUGIN_MAGIC_COOKIE",
	MagicCookieValue: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
}

// connPlugin makes the plugin library return its connection.
type connPlugin struct{ plugin.NetRPCUnsupportedPlugin }

// GRPCServer implements plugin.GRPCPlugin.
func (connPlugin) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error {
	return errors.New("this side of the protocol only calls")
}

// GRPCClient implements plugin.GRPCPlugin.
func (connPlugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// Start runs the executable and returns the provider that it serves, over the highest common protocol
// version, 5 or 6. The context limits only the start. The process ends at Close.
func Start(ctx context.Context, c Command) (provider.Provider, diag.List) {
	proc := newProcess(c)
	encryption, err := encrypt(c, proc)
	if err != nil {
		return nil, diag.Errorf("Provider could not be started", "Provider %s could not be started: the certificate for its connection could not be made: %s.", c.Name, err)
	}
	set := plugin.PluginSet{pluginName: connPlugin{}}
	plug := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  handshake,
		VersionedPlugins: map[int]plugin.PluginSet{5: set, 6: set},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		TLSConfig:        encryption,
		Managed:          true,
		SkipHostEnv:      true,
		StartTimeout:     startTime,
		Stderr:           &proc.stderr.direct,
		SyncStdout:       io.Discard,
		SyncStderr:       &proc.stderr.synced,
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Off, Output: io.Discard}),
		GRPCDialOptions:  append([]grpc.DialOption{grpc.WithIdleTimeout(0)}, unbuffered...),
		RunnerFunc: func(_ hclog.Logger, spec *exec.Cmd, _ string) (runner.Runner, error) {
			proc.cmd.Env = append(proc.cmd.Env, spec.Env...)
			return proc, nil
		},
	})
	address, err := serve(ctx, plug, proc)
	if err != nil {
		diags := startFailure(ctx, c, proc, err)
		plug.Kill()
		return nil, diags
	}
	calls := unary.NewClient(dialer(address, encryption))
	cl := newClient(c.Name, plug.NegotiatedVersion(), calls, func() error {
		calls.Close()
		return closePlugin(c.Name, plug, proc)
	})
	cl.proc, cl.cache = proc, c.Schemas
	return cl, nil
}

// encrypt passes the process the certificate of its only client, and returns the settings of the connection
// to it, or nil for an unencrypted one.
func encrypt(c Command, proc *process) (*tls.Config, error) {
	if c.Plain {
		return nil, nil
	}
	settings, certificate, err := newClientTLS()
	if err != nil {
		return nil, err
	}
	proc.cmd.Env = append(proc.cmd.Env, clientCertEnv+"="+string(certificate))
	return settings, nil
}

// serve starts the process and waits until it serves or ctx ends, which also ends the process. It returns
// where the process listens. The plugin library has a connection of its own, for what the process writes and
// for ending it.
func serve(ctx context.Context, plug *plugin.Client, proc *process) (net.Addr, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	unwatch := context.AfterFunc(ctx, func() { _ = proc.Kill(context.Background()) })
	defer unwatch()
	address, err := plug.Start()
	if err != nil {
		return nil, err
	}
	if _, err := plug.Client(); err != nil {
		return nil, err
	}
	return address, ctx.Err()
}

// dialer returns a function that connects to a plugin, encrypted if there are settings for that.
func dialer(address net.Addr, encryption *tls.Config) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, address.Network(), address.String())
		if err != nil || encryption == nil {
			return conn, err
		}
		settings := encryption.Clone()
		settings.NextProtos = []string{http2.NextProtoTLS}
		encrypted := tls.Client(conn, settings)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, err
		}
		return encrypted, nil
	}
}

// closePlugin asks the process to end, and kills it if necessary.
func closePlugin(name string, plug *plugin.Client, proc *process) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		plug.Kill()
	}()
	select {
	case <-done:
		return nil
	case <-time.After(closeTime):
	}
	if err := proc.Kill(context.Background()); err != nil {
		return fmt.Errorf("provider %s (process %s) could not be ended: %w", name, proc.ID(), err)
	}
	select {
	case <-done:
		return nil
	case <-time.After(closeTime):
		return fmt.Errorf("provider %s (process %s) did not end although it was killed", name, proc.ID())
	}
}

// startFailure describes why a plugin didn't start and what can be done about it.
func startFailure(ctx context.Context, c Command, proc *process, err error) diag.List {
	if ctx.Err() != nil {
		l := diag.Errorf("Operation interrupted", "The start of provider %s was interrupted.", c.Name)
		l[0].Extra = ctx.Err()
		return l
	}
	why := startReason(c, proc, err)
	return diag.Errorf("Provider could not be started", "Provider %s could not be started: %s%s", c.Name, why, proc.stderr.text())
}

// startReason returns the cause of a failed start as the end of a sentence, with advice. Most causes are
// known only from what the process has done so far: nothing, ended, or written something else than a
// handshake.
func startReason(c Command, proc *process, err error) string {
	if proc.startErr != nil {
		return execReason(c.Path, proc.startErr)
	}
	if !proc.begun() {
		if _, ok := errors.AsType[*fs.PathError](err); ok { // of creating a directory for the socket
			return fmt.Sprintf("%s cannot be used as the directory for temporary files: %s. Set the environment variable %s to one in which this user may "+
				"create files, or unset it.", os.TempDir(), diag.Reason(err), tempVariable())
		}
		return fmt.Sprintf("%s.", err)
	}
	fields := proc.handshakeFields()
	if len(fields) == 0 {
		select {
		case <-proc.exited:
			return fmt.Sprintf("its process ended before it was ready%s. Check that %s is a provider for this system.", proc.exitText(), c.Path)
		case <-time.After(exitTime):
			return fmt.Sprintf("it was not ready within %s.", startTime)
		}
	}
	if len(fields) < 4 {
		return fmt.Sprintf("what it wrote to standard output is not the handshake of a plugin. %s is not a provider plugin, or prints text where it must "+
			"not; install the provider again or report this to its developers.", c.Path)
	}
	if version, convErr := strconv.Atoi(fields[1]); convErr == nil && version != 5 && version != 6 {
		if version > 6 {
			return fmt.Sprintf("it needs plugin protocol %d, and Mayfly supports 5 and 6. Use a newer version of Mayfly, or an older "+
				"version of the provider.", version)
		}
		return fmt.Sprintf("it supports only plugin protocol %d, and Mayfly supports 5 and 6. Use a newer version of the provider.", version)
	}
	if len(fields) < 5 || fields[4] != string(plugin.ProtocolGRPC) {
		return "it doesn't serve over gRPC. Use a newer version of the provider."
	}
	return fmt.Sprintf("%s.", err)
}

// tempVariable returns the name of the environment variable for the directory of temporary files.
func tempVariable() string {
	if runtime.GOOS == "windows" {
		return "TMP"
	}
	return "TMPDIR"
}

// execReason explains why the system could not execute a file.
func execReason(path string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("the file %s, or the interpreter or loader that it names, does not exist. Install the provider again.", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("this user may not execute %s. Check the permissions of the file and of the folders above it.", path)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Sprintf("%s is not an executable for this operating system and processor. Install the provider for this platform.", path)
	default:
		return fmt.Sprintf("%s.", err)
	}
}
