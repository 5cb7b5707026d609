package plugin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/compat"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin/unary"
)

// Command describes how to run a provider's executable.
type Command struct {
	Path string
	Args []string
	Env  []string // the whole environment; nil means this process's
	Dir  string   // working directory; "" means this process's
	Name string   // the provider's address, for error messages
	// Engine is the engine that the provider takes the program for, the default one if there is none.
	Engine compat.Engine
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

// closeTime is how long a plugin may take to end by itself before it is killed. Tests set it.
var closeTime = 5 * time.Second

// Start runs the executable and returns the provider that it serves, over the highest common protocol
// version, 5 or 6. The context limits only the start. The process ends at Close.
func Start(ctx context.Context, c Command) (provider.Provider, diag.List) {
	proc := newProcess(c)
	encryption, err := encrypt(c, proc)
	if err != nil {
		return nil, diag.Errorf("Provider could not be started", "Provider %s could not be started: the certificate for its connection could not be made: %s.", c.Name, err)
	}
	serving, err := serve(ctx, proc, encryption)
	if err != nil {
		diags := startFailure(ctx, c, proc, err)
		_ = serving.end(c.Name) // the reason why it does not serve is the error to report
		return nil, diags
	}
	calls := unary.NewClient(dialer(serving.address, encryption))
	cl := newClient(c.Name, serving.protocol, calls, func() error {
		calls.Close()
		return serving.end(c.Name)
	})
	cl.proc, cl.cache, cl.engine = proc, c.Schemas, c.Engine.OrDefault()
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

// dialer returns a function that connects to a plugin, encrypted if there are settings for that.
func dialer(address net.Addr, encryption *tls.Config) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, address.Network(), address.String())
		if err != nil || encryption == nil {
			return conn, err
		}
		settings := encryption.Clone()
		settings.NextProtos = []string{"h2"}
		encrypted := tls.Client(conn, settings)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, err
		}
		return encrypted, nil
	}
}

// startFailure describes why a plugin didn't start, with advice.
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
// known only from the progress of the process: nothing, ended, or written something else than a handshake.
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
	if len(fields) < 5 || fields[4] != protocolGRPC {
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
