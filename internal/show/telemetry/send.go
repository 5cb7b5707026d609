package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
)

// exporter sends messages. Its error is for people and has nothing of the address but the host, since tokens
// may be in the rest.
type exporter interface {
	send(ctx context.Context, r *request) error
}

// console writes messages as lines of JSON.
type console struct{ w io.Writer }

func (c console) send(_ context.Context, r *request) error {
	b, err := json.Marshal(r)
	if err == nil {
		_, err = c.w.Write(append(b, '\n'))
	}
	return err
}

// client sends messages to a receiver.
type client struct {
	*destination
	http    *http.Client
	version string
}

const (
	maxAnswer  = 64 << 10 // bytes of an answer that are read
	maxFile    = 1 << 20  // bytes of a certificate
	retryFirst = 200 * time.Millisecond
	retryMost  = 5 * time.Second
)

// newClient returns a client for a destination; nil if a file of it cannot be used.
func newClient(signal string, d *destination, version string, r *reader) *client {
	config, ok := d.tls(signal, r)
	if !ok {
		return nil
	}
	var protocols http.Protocols
	if d.protocol == grpc {
		protocols.SetHTTP2(true)
		protocols.SetUnencryptedHTTP2(true)
	} else {
		protocols.SetHTTP1(true)
		protocols.SetHTTP2(true)
	}
	return &client{destination: d, version: version, http: &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, Protocols: &protocols, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // headers are for this server only
	}}
}

// tls returns how to encrypt connections, and false if a file cannot be used.
func (d *destination) tls(signal string, r *reader) (*tls.Config, bool) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if d.ca != "" {
		pem, err := safefile.Read(d.ca, maxFile)
		config.RootCAs = x509.NewCertPool()
		if err != nil || !config.RootCAs.AppendCertsFromPEM(pem) {
			r.file(signal, "CERTIFICATE", "it has no certificate that can be read")
			return nil, false
		}
	}
	if d.certificate != "" || d.private != "" {
		certificate, err := safefile.Read(d.certificate, maxFile)
		private, other := safefile.Read(d.private, maxFile)
		pair, wrong := tls.X509KeyPair(certificate, private)
		if errors.Join(err, other, wrong) != nil {
			r.file(signal, "CLIENT_CERTIFICATE", "with that of CLIENT_KEY, it is not a certificate with its key")
			return nil, false
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, true
}

// answer is the reply of a receiver to a message.
type answer struct {
	err   error
	again bool // may be sent again
	after time.Duration
}

// send implements exporter. It repeats a message that a receiver is too busy for, within the time limit.
func (c *client) send(ctx context.Context, r *request) error {
	body, err := c.encode(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		got := c.try(ctx, body)
		if got.err == nil || !got.again {
			return got.err
		}
		timer := time.NewTimer(max(wait, got.after))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return got.err
		}
	}
}

// encode returns the body of a request.
func (c *client) encode(r *request) ([]byte, error) {
	var body []byte
	var err error
	if c.protocol == jsonText {
		body, err = json.Marshal(r)
	} else {
		body = r.wire()
	}
	if err == nil && c.gzip {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err = w.Write(body)
		err = errors.Join(err, w.Close())
		body = b.Bytes()
	}
	if c.protocol == grpc { // one message, after its length
		head := make([]byte, 5, 5+len(body))
		if c.gzip {
			head[0] = 1
		}
		binary.BigEndian.PutUint32(head[1:], uint32(len(body)))
		body = append(head, body...)
	}
	return body, err
}

// try sends a request once.
func (c *client) try(ctx context.Context, body []byte) answer {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.String(), bytes.NewReader(body))
	if err != nil {
		return answer{err: fmt.Errorf("the receiver %s cannot be asked", c.url.Host)}
	}
	for _, h := range c.headers {
		req.Header.Set(h[0], h[1])
	}
	req.Header.Set("User-Agent", "mayfly/"+c.version)
	req.Header.Set("Content-Type", map[string]string{protobuf: "application/x-protobuf", jsonText: "application/json", grpc: "application/grpc"}[c.protocol])
	switch {
	case c.protocol == grpc:
		req.Header.Set("Te", "trailers")
		if c.gzip {
			req.Header.Set("Grpc-Encoding", "gzip")
		}
	case c.gzip:
		req.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{err: c.unreachable(err), again: !errors.Is(err, context.DeadlineExceeded) && !refused(err)}
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
	if c.protocol == grpc && resp.StatusCode == http.StatusOK {
		return c.outcome(resp, err)
	}
	if resp.StatusCode/100 == 2 {
		return answer{}
	}
	got := answer{err: fmt.Errorf("the receiver %s answered with the status %d", c.url.Host, resp.StatusCode)}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		got.again = true
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
			got.after = time.Duration(min(seconds, 3600)) * time.Second
		}
	}
	return got
}

// outcome returns the status of a call over gRPC.
func (c *client) outcome(resp *http.Response, err error) answer {
	code := resp.Trailer.Get("Grpc-Status")
	if code == "" {
		code = resp.Header.Get("Grpc-Status") // of an answer without a message
	}
	n, wrong := strconv.Atoi(code)
	switch {
	case wrong != nil || err != nil && n == 0:
		return answer{err: fmt.Errorf("the receiver %s does not speak gRPC", c.url.Host)}
	case n == 0:
		return answer{}
	}
	const exhausted, unavailable = 8, 14
	return answer{err: fmt.Errorf("the receiver %s answered with the gRPC status %d", c.url.Host, n), again: n == exhausted || n == unavailable}
}

// refused reports whether nothing listens at the address: it will not in the next seconds either.
func refused(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// unreachable describes an error of sending, without the address.
func (c *client) unreachable(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Errorf("the receiver %s did not answer in time", c.url.Host)
	case refused(err):
		return fmt.Errorf("the receiver %s cannot be reached", c.url.Host)
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("the certificate of %s is not trusted", c.url.Host)
	}
	return fmt.Errorf("the connection to %s failed", c.url.Host)
}
