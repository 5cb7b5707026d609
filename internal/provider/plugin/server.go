package plugin

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin/unary"
)

// This file has the protocol by which plugins are started, announce where they serve, and are ended. It is
// the protocol of the library go-plugin, which plugins are written with.

const (
	// startTime is how long a plugin may take to be ready to serve.
	startTime = time.Minute
	// graceTime is how long it may take to end after it was asked to.
	graceTime = 2 * time.Second
	// protocolGRPC is the plugins' name of the kind of connection that is used.
	protocolGRPC = "grpc"
)

// protocols are the versions of the provider protocol that are spoken.
var protocols = []int{5, 6}

// greeting is the environment of plugins. Providers of the ecosystem expect the cookie: without it they print
// a notice for people who start them by hand. It is not a secret. The ports are for systems without sockets
// in the file system.
var greeting = []string{
	"TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
	"PLUGIN_PROTOCOL_VERSIONS=5,6", "PLUGIN_MIN_PORT=10000", "PLUGIN_MAX_PORT=25000",
}

// server is a process that serves, or is about to.
type server struct {
	proc       *process
	encryption *tls.Config // nil for none
	dir        string      // of its socket
	protocol   int
	address    net.Addr      // nil before it serves
	control    *unary.Client // for ending the process and for its output
	running    sync.WaitGroup
}

// serve starts the process and waits until it serves or ctx ends, which also ends the process. The caller
// calls end in any case.
func serve(ctx context.Context, proc *process, encryption *tls.Config) (*server, error) {
	s := &server{proc: proc, encryption: encryption}
	if err := ctx.Err(); err != nil {
		return s, err
	}
	unwatch := context.AfterFunc(ctx, func() { _ = proc.kill() })
	defer unwatch()
	var err error
	if s.dir, err = makeSocketDir(shortTempDir); err != nil {
		return s, err
	}
	proc.cmd.Env = append(append(proc.cmd.Env, greeting...), "PLUGIN_UNIX_SOCKET_DIR="+s.dir)
	if err := proc.start(); err != nil {
		return s, err
	}
	line, err := s.firstLine()
	if err != nil {
		return s, err
	}
	if err := s.accept(line); err != nil {
		return s, err
	}
	s.control = unary.NewClient(dialer(s.address, encryption))
	s.running.Go(func() {
		_ = bug.Catch(func() error { // plugins without this service write to standard error only
			return s.control.Stream(context.Background(), "/plugin.GRPCStdio/StreamStdio", &emptypb.Empty{}, s.written)
		})
	})
	return s, ctx.Err()
}

// firstLine begins to read the output of the process, and returns its first line.
func (s *server) firstLine() (string, error) {
	s.running.Go(func() {
		_ = bug.Call(func() { _, _ = io.Copy(&s.proc.stderr.direct, drainReader{s.proc}) }) // ends with the process
	})
	first := make(chan string, 1)
	s.running.Go(func() {
		out := handshakeReader{s.proc}
		_ = bug.Call(func() {
			if lines := bufio.NewScanner(out); lines.Scan() {
				first <- lines.Text()
			}
			close(first)
			_, _ = io.Copy(io.Discard, out)
		})
	})
	select {
	case line, ok := <-first:
		if !ok {
			return "", errors.New("it wrote no handshake")
		}
		return strings.TrimSpace(line), nil
	case <-s.proc.exited:
		return "", errors.New("it ended before it was ready")
	case <-time.After(startTime):
		return "", fmt.Errorf("it was not ready within %s", startTime)
	}
}

// accept takes over the announcement of the plugin:
//
//	version of the handshake | version of the protocol | network | address | grpc | certificate
func (s *server) accept(line string) (err error) {
	fields := strings.Split(line, "|")
	if len(fields) < 5 {
		return errors.New("its handshake is incomplete")
	}
	if fields[0] != "1" {
		return fmt.Errorf("its handshake has the version %q, and not 1", fields[0])
	}
	s.protocol, err = strconv.Atoi(fields[1])
	if err != nil || !slices.Contains(protocols, s.protocol) {
		return fmt.Errorf("it announces the protocol %q", fields[1])
	}
	if fields[4] != protocolGRPC {
		return fmt.Errorf("it announces a connection of the kind %q", fields[4])
	}
	if len(fields) > 5 && fields[5] != "" {
		if err := s.trust(fields[5]); err != nil {
			return err
		}
	}
	s.address, err = resolve(fields[2], fields[3])
	return err
}

// trust makes the certificate from the handshake the only one that the connection accepts.
func (s *server) trust(encoded string) error {
	if s.encryption == nil {
		return errors.New("it encrypts the connection, which it was not asked to do")
	}
	der, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil {
		return errors.New("its certificate is not valid")
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return fmt.Errorf("its certificate is not valid: %w", err)
	}
	s.encryption.RootCAs = x509.NewCertPool()
	s.encryption.RootCAs.AddCert(certificate)
	return nil
}

// written takes over a piece of the output of the plugin's own code, once the plugin serves. It has the
// number of the channel, which is 2 for standard error, and the bytes.
func (s *server) written(piece []byte) {
	var channel uint64
	var data []byte
	for len(piece) > 0 {
		number, kind, n := protowire.ConsumeTag(piece)
		if n < 0 {
			return
		}
		piece = piece[n:]
		switch {
		case number == 1 && kind == protowire.VarintType:
			channel, n = protowire.ConsumeVarint(piece)
		case number == 2 && kind == protowire.BytesType:
			data, n = protowire.ConsumeBytes(piece)
		default:
			n = protowire.ConsumeFieldValue(number, kind, piece)
		}
		if n < 0 {
			return
		}
		piece = piece[n:]
	}
	if channel == 2 {
		_, _ = s.proc.stderr.synced.Write(data) // never fails
	}
}

// end asks the process to end, and kills it if necessary. It returns when nothing of it is left.
func (s *server) end(name string) error {
	if s.dir != "" {
		defer os.RemoveAll(s.dir)
	}
	if s.control != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		// A plugin that ends at once may not answer.
		err := s.control.Call(ctx, "/plugin.GRPCController/Shutdown", &emptypb.Empty{}, &emptypb.Empty{})
		if unary.CodeOf(err) != unary.DeadlineExceeded {
			s.proc.ended(min(graceTime, closeTime))
		}
		s.control.Close()
	}
	if !s.proc.begun() {
		return nil
	}
	if err := s.proc.kill(); err != nil {
		return fmt.Errorf("provider %s (process %s) could not be ended: %w", name, s.proc.id(), err)
	}
	if !s.proc.ended(closeTime) {
		return fmt.Errorf("provider %s (process %s) did not end although it was killed", name, s.proc.id())
	}
	s.running.Wait()
	return nil
}
