package telemetry_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/show/telemetry"
)

// receiver is a receiver of OTLP. It decodes what it gets with the official definitions.
type receiver struct {
	t       *testing.T
	mu      sync.Mutex
	traces  []*tracepb.TracesData
	metrics []*metricspb.MetricsData
	headers []http.Header
	paths   []string
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.t.Error(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers, r.paths = append(r.headers, req.Header), append(r.paths, req.URL.Path)
	isTraces := strings.Contains(strings.ToLower(req.URL.Path), "trace")
	var into proto.Message = &tracepb.TracesData{}
	if !isTraces {
		into = &metricspb.MetricsData{}
	}
	if err := decode(req.Header, body, into); err != nil {
		r.t.Errorf("%s: %s", req.URL.Path, err)
	}
	if req.Header.Get("Content-Type") == "application/grpc" {
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Trailer", "Grpc-Status")
		_, _ = w.Write(make([]byte, 5))
		w.Header().Set("Grpc-Status", "0")
	}
	if isTraces {
		r.traces = append(r.traces, into.(*tracepb.TracesData))
	} else {
		r.metrics = append(r.metrics, into.(*metricspb.MetricsData))
	}
}

// decode decodes a request. What the definitions do not have is an error.
func decode(h http.Header, body []byte, into proto.Message) error {
	zipped := h.Get("Content-Encoding") == "gzip"
	if h.Get("Content-Type") == "application/grpc" {
		if len(body) < 5 || int(binary.BigEndian.Uint32(body[1:])) != len(body)-5 {
			return fmt.Errorf("the length of the message is wrong")
		}
		zipped, body = body[0] == 1, body[5:]
	}
	if zipped {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return err
		}
		if body, err = io.ReadAll(z); err != nil {
			return err
		}
	}
	if h.Get("Content-Type") == "application/json" {
		// IDs are hexadecimal in OTLP, and not as JSON has bytes of Protocol Buffers.
		id := regexp.MustCompile(`("(?:traceId|spanId|parentSpanId)":)"([0-9a-f]*)"`)
		body = id.ReplaceAllFunc(body, func(b []byte) []byte {
			m := id.FindSubmatch(b)
			raw, _ := hex.DecodeString(string(m[2]))
			return append(m[1], fmt.Sprintf("%q", base64.StdEncoding.EncodeToString(raw))...)
		})
		return protojson.Unmarshal(body, into)
	}
	if err := proto.Unmarshal(body, into); err != nil {
		return err
	}
	again, err := proto.MarshalOptions{Deterministic: true}.Marshal(into)
	if err == nil && len(again) > len(body) {
		err = fmt.Errorf("%d bytes became %d", len(body), len(again))
	}
	return err
}

// String returns what was received in a form to compare.
func (r *receiver) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out strings.Builder
	for _, data := range r.traces {
		for _, rs := range data.ResourceSpans {
			for _, a := range rs.Resource.Attributes {
				fmt.Fprintf(&out, "%s=%s\n", a.Key, a.Value.GetStringValue())
			}
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					fmt.Fprintf(&out, "%s %x %x<%x %s %s %d-%d %s %x", ss.Scope.Name, s.TraceId, s.SpanId, s.ParentSpanId, s.Name, s.Kind, s.StartTimeUnixNano, s.EndTimeUnixNano, s.Status.GetCode(), s.Flags)
					for _, a := range s.Attributes {
						fmt.Fprintf(&out, " %s=%s", a.Key, a.Value)
					}
					fmt.Fprintf(&out, " %s\n", s.TraceState)
				}
			}
		}
	}
	for _, data := range r.metrics {
		for _, rm := range data.ResourceMetrics {
			for _, sm := range rm.ScopeMetrics {
				for _, m := range sm.Metrics {
					for _, p := range m.GetHistogram().DataPoints {
						fmt.Fprintf(&out, "%s %s %d %g %g-%g %v %d", m.Name, m.Unit, p.Count, p.GetSum(), p.GetMin(), p.GetMax(), p.BucketCounts, len(p.ExplicitBounds))
						for _, a := range p.Attributes {
							fmt.Fprintf(&out, " %s=%s", a.Key, a.Value.GetStringValue())
						}
						out.WriteString("\n")
					}
				}
			}
		}
	}
	return strings.ReplaceAll(out.String(), "  ", " ") // the text of messages varies
}

// vary are the settings of each way to send.
var vary = map[string]map[string]string{
	"protobuf":      {},
	"protobuf gzip": {"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"},
	"json":          {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"},
	"grpc":          {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
	"grpc gzip":     {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"},
}

// serve starts a server, which also speaks HTTP/2 without encryption.
func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = &http.Protocols{}
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// options returns options with IDs and times that are the same in each run.
func options(vars map[string]string) telemetry.Options {
	n := uint64(0)
	at := time.Unix(1000, 0)
	return telemetry.Options{
		Vars: vars, Version: "1.2.3", Stderr: io.Discard,
		Now:    func() time.Time { at = at.Add(40 * time.Millisecond); return at },
		Random: func() uint64 { n++; return n * 0x0101010101010101 },
		Redact: func(s string) string { return strings.ReplaceAll(s, "canary", "***") },
	}
}

// work makes a few spans.
func work(t *testing.T, tel *telemetry.Telemetry) {
	t.Helper()
	ctx, root := tel.Begin(t.Context(), "mayfly apply")
	inner, create := trace.Start(ctx, "create")
	create.Set(trace.Address, `x.y["canary"]`)
	create.Set(trace.Type, "canary_x")
	_, call := trace.Start(inner, "ApplyResource")
	call.Set(trace.Provider, "example.com/a/b")
	if call != nil {
		call.Kind = trace.Call
	}
	call.Finish(false)
	create.Finish(false)
	root.SetNumber(trace.Status, 1)
	root.Finish(false)
}

const received = `service.name=mine
service.version=1.2.3
telemetry.sdk.language=go
telemetry.sdk.name=mayfly
telemetry.sdk.version=1.2.3
team=a b
mayfly 0123456789abcdef0123456789abcdef 0303030303030303<0202020202020202 ApplyResource SPAN_KIND_CLIENT 1000160000000-1000200000000 STATUS_CODE_ERROR 101 mayfly.provider=string_value:"example.com/a/b" k=v
mayfly 0123456789abcdef0123456789abcdef 0202020202020202<0101010101010101 create SPAN_KIND_INTERNAL 1000120000000-1000240000000 STATUS_CODE_ERROR 101 mayfly.address=string_value:"x.y[\"***\"]" mayfly.resource.type=string_value:"***_x" k=v
mayfly 0123456789abcdef0123456789abcdef 0101010101010101<0123456789abcdef mayfly apply SPAN_KIND_INTERNAL 1000080000000-1000280000000 STATUS_CODE_ERROR 301 process.exit.code=int_value:1 k=v
mayfly.operation.duration s 1 0.12 0.12-0.12 [0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0] 15 mayfly.operation=create mayfly.resource.type=***_x mayfly.outcome=failure
mayfly.command.duration s 1 0.2 0.2-0.2 [0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0] 15 mayfly.operation=mayfly apply mayfly.outcome=failure
mayfly.provider.call.duration s 1 0.04 0.04-0.04 [0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0] 15 mayfly.operation=ApplyResource mayfly.provider=example.com/a/b mayfly.outcome=failure
`

// TestReceived sends spans and metrics in each way, and reads them with the official definitions.
func TestReceived(t *testing.T) {
	for name, settings := range vary {
		t.Run(name, func(t *testing.T) {
			r := &receiver{t: t}
			vars := map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT": serve(t, r).URL + "/base", "OTEL_EXPORTER_OTLP_HEADERS": "x-token=a%20b, x-other=c",
				"OTEL_SERVICE_NAME": "mine", "OTEL_RESOURCE_ATTRIBUTES": "team=a%20b,service.name=other",
				"TRACEPARENT": "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01", "TRACESTATE": "k=v",
			}
			for k, v := range settings {
				vars[k] = v
			}
			tel := telemetry.New(options(vars))
			work(t, tel)
			if problems := tel.Close(); len(problems) > 0 {
				t.Error(problems)
			}
			if got := r.String(); got != received {
				t.Errorf("received:\ngot %s\nwant:\n%s", got, received)
			}
			want := []string{"/base/v1/traces", "/base/v1/metrics"}
			if strings.Contains(name, "grpc") {
				want = []string{"/opentelemetry.proto.collector.trace.v1.TraceService/Export", "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"}
			}
			if !slices.Equal(r.paths, want) {
				t.Errorf("the paths: got %q, want %q", r.paths, want)
			}
			for _, h := range r.headers {
				if h.Get("X-Token") != "a b" || h.Get("X-Other") != "c" || h.Get("User-Agent") != "mayfly/1.2.3" {
					t.Errorf("headers: got %v, want the two configured ones and the user agent", h)
				}
				if grpc := strings.Contains(name, "grpc"); grpc && h.Get("Te") != "trailers" || (h.Get("Grpc-Encoding") == "gzip") != (name == "grpc gzip") {
					t.Errorf("headers of %s: got %v, want those of its protocol and compression", name, h)
				}
			}
		})
	}
}

// TestSignals checks which variables turn on what.
func TestSignals(t *testing.T) {
	r := &receiver{t: t}
	s := serve(t, r)
	for _, c := range []struct {
		vars map[string]string
		want string // paths that are asked; "off" for no telemetry at all
	}{
		{nil, "off"},
		{map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": s.URL}, "off"},
		{map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": s.URL}, "off"},
		{map[string]string{"OTEL_SERVICE_NAME": "x"}, "off"},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": s.URL}, "/v1/traces /v1/metrics"},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": s.URL, "OTEL_METRICS_EXPORTER": "none"}, "/v1/traces"},
		{map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": s.URL + "/trace"}, "/trace"},
		{map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": s.URL}, "/"},
		{map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_METRICS_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": s.URL, "OTEL_TRACES_SAMPLER": "always_off"}, ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": s.URL, "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0"}, "/v1/metrics"},
		{map[string]string{
			"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": s.URL + "/trace", "OTEL_TRACES_SAMPLER": "parentbased_always_on",
			"TRACEPARENT": "00-0123456789abcdef0123456789abcdef-0123456789abcdef-00",
		}, ""},
		{map[string]string{
			"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": s.URL + "/trace", "OTEL_TRACES_SAMPLER": "always_on",
			"TRACEPARENT": "00-0123456789abcdef0123456789abcdef-0123456789abcdef-00",
		}, "/trace"},
	} {
		r.paths = nil
		tel := telemetry.New(options(c.vars))
		got := "off"
		if tel != nil {
			work(t, tel)
			if problems := tel.Close(); len(problems) > 0 {
				t.Errorf("%v: %q", c.vars, problems)
			}
			got = strings.Join(r.paths, " ")
		}
		if got != c.want {
			t.Errorf("%v: got %q, want %q", c.vars, got, c.want)
		}
	}
}

// TestPropagation checks which processes get the current span.
func TestPropagation(t *testing.T) {
	const parent = "TRACEPARENT=00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
	for propagators, want := range map[string]string{"": "TRACEPARENT=00-0123456789abcdef0123456789abcdef-0101", "baggage,tracecontext": "TRACEPARENT=00-0123456789abcdef0123456789abcdef-0101", "none": parent} {
		name, value, _ := strings.Cut(parent, "=")
		tel := telemetry.New(options(map[string]string{"OTEL_TRACES_EXPORTER": "console", "OTEL_PROPAGATORS": propagators, name: value}))
		ctx, _ := tel.Begin(t.Context(), "x")
		if got := trace.Environ(ctx, []string{parent}); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%q: programs get %q, want %q", propagators, got, want)
		}
		tel.Close()
	}
	// Nothing of a trace that is not exported is in another one.
	name, value, _ := strings.Cut(parent, "=")
	tel := telemetry.New(options(map[string]string{"OTEL_METRICS_EXPORTER": "console", name: value}))
	ctx, _ := tel.Begin(t.Context(), "x")
	if got := trace.Environ(ctx, []string{parent}); len(got) != 1 || got[0] != parent {
		t.Errorf("environment with metrics only: got %q, want %q", got, parent)
	}
	tel.Close()
}

// TestConsole checks that each line is a message of its own.
func TestConsole(t *testing.T) {
	var out bytes.Buffer
	opt := options(map[string]string{"OTEL_TRACES_EXPORTER": "console", "OTEL_METRICS_EXPORTER": "console"})
	opt.Stderr = &out
	tel := telemetry.New(opt)
	work(t, tel)
	if problems := tel.Close(); len(problems) > 0 {
		t.Error(problems)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || strings.Contains(out.String(), "canary") {
		t.Fatalf("got %q, want two lines without the secret", lines)
	}
	for i, into := range []proto.Message{&tracepb.TracesData{}, &metricspb.MetricsData{}} {
		if err := decode(http.Header{"Content-Type": {"application/json"}}, []byte(lines[i]), into); err != nil {
			t.Errorf("%s: %s", lines[i], err)
		}
	}
}

// TestNotDelivered checks what is said of receivers that do not take what they are sent. The address and the
// headers have a secret, which is in none of the problems.
func TestNotDelivered(t *testing.T) {
	var elsewhere []http.Header
	other := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { elsewhere = append(elsewhere, r.Header) }))
	stop := make(chan struct{})
	times := 0
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	for name, c := range map[string]struct {
		serve http.HandlerFunc // nil if nothing listens
		grpc  bool
		want  string
	}{
		"500": {serve: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, want: "answered with the status 500"},
		"redirect": {serve: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, want: "answered with the status 307"},
		"hangs": {serve: func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body); <-stop }, want: "did not answer in time"},
		"busy":  {serve: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, want: "answered with the status 503"},
		"busy once": {serve: func(w http.ResponseWriter, _ *http.Request) {
			times++
			w.WriteHeader(map[bool]int{true: 503, false: 200}[times == 1])
		}},
		"resets":      {serve: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, want: "The connection to"},
		"unreachable": {want: "cannot be reached"},
		"not grpc":    {serve: func(http.ResponseWriter, *http.Request) {}, grpc: true, want: "does not speak gRPC"},
		"grpc fails":  {serve: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Grpc-Status", "16") }, grpc: true, want: "answered with the gRPC status 16"},
	} {
		address := "http://" + closed.Addr().String()
		if c.serve != nil {
			address = serve(t, c.serve).URL
		}
		vars := map[string]string{
			"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": strings.Replace(address, "://", "://user:canary@", 1) + "/canary?key=canary", "OTEL_EXPORTER_OTLP_HEADERS": "x-token=canary",
			"OTEL_BSP_EXPORT_TIMEOUT": "1000", "OTEL_EXPORTER_OTLP_TIMEOUT": "500",
		}
		if c.grpc {
			vars["OTEL_EXPORTER_OTLP_PROTOCOL"] = "grpc"
		}
		tel := telemetry.New(options(vars))
		work(t, tel)
		problems := strings.Join(tel.Close(), "\n")
		if c.want == "" && problems != "" || c.want != "" && (!strings.Contains(problems, c.want) || !strings.Contains(problems, "Spans that were not delivered: 3.")) {
			t.Errorf("%s: the problems are %q, want %q", name, problems, c.want)
		}
		if problems != "" && !strings.HasPrefix(problems, "The ") {
			t.Errorf("%s: got problems that begin with a name: %q, want \"The \" first", name, problems)
		}
		if strings.Contains(strings.ToLower(problems), "canary") {
			t.Errorf("%s: the problems have a secret: %q", name, problems)
		}
	}
	close(stop)
	if len(elsewhere) > 0 {
		t.Errorf("another server was sent %v", elsewhere)
	}
}

// TestQueueIsBounded has a receiver that answers only at the end.
func TestQueueIsBounded(t *testing.T) {
	held := make(chan struct{})
	r := &receiver{t: t}
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { <-held; r.ServeHTTP(w, req) }))
	tel := telemetry.New(telemetry.Options{Vars: map[string]string{
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": s.URL + "/trace", "OTEL_BSP_MAX_QUEUE_SIZE": "20", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "5", "OTEL_BSP_SCHEDULE_DELAY": "3600000",
	}})
	ctx, root := tel.Begin(context.Background(), "x")
	for range 100 {
		_, span := trace.Start(ctx, "y")
		span.Finish(true)
	}
	root.Finish(true)
	close(held)
	problems := strings.Join(tel.Close(), " ")
	count := 0
	for _, data := range r.traces {
		n := len(data.ResourceSpans[0].ScopeSpans[0].Spans)
		if count += n; n > 5 {
			t.Errorf("a batch has %d spans", n)
		}
	}
	if want := fmt.Sprintf("Spans for which there was no room: %d.", 101-count); count < 20 || count > 25 || !strings.Contains(problems, want) {
		t.Errorf("%d spans were received, %q", count, problems)
	}
}

// TestWrongSettings checks that each is named and that none has its value shown.
func TestWrongSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	for variable, value := range map[string]string{
		"OTEL_TRACES_EXPORTER": "canary", "OTEL_METRICS_EXPORTER": "prometheus", "OTEL_EXPORTER_OTLP_PROTOCOL": "canary", "OTEL_EXPORTER_OTLP_COMPRESSION": "canary",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "canary", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "ftp://canary", "OTEL_EXPORTER_OTLP_TIMEOUT": "canary", "OTEL_EXPORTER_OTLP_HEADERS": "canary",
		"OTEL_EXPORTER_OTLP_CERTIFICATE": file, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": file, "OTEL_EXPORTER_OTLP_CLIENT_KEY": file, "OTEL_BSP_MAX_QUEUE_SIZE": "-1", "OTEL_BSP_SCHEDULE_DELAY": "canary",
		"OTEL_TRACES_SAMPLER": "canary", "OTEL_PROPAGATORS": "b3", "OTEL_RESOURCE_ATTRIBUTES": "canary",
	} {
		r := &receiver{t: t}
		vars := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": serve(t, r).URL, variable: value}
		tel := telemetry.New(options(vars))
		work(t, tel)
		problems := strings.Join(tel.Close(), "\n")
		if !strings.Contains(problems, strings.Replace(variable, "CLIENT_KEY", "CLIENT_CERTIFICATE", 1)+" ") || strings.Contains(problems, "canary") {
			t.Errorf("%s=%s: %q", variable, value, problems)
		}
		if value == file && len(r.paths) > 0 { // without what it is to be encrypted with
			t.Errorf("%s: %q were sent", variable, r.paths)
		}
	}
}

// TestTLS trusts the certificate of a receiver only if a setting names it.
func TestTLS(t *testing.T) {
	r := &receiver{t: t}
	s := httptest.NewUnstartedServer(r)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	pem := "-----BEGIN CERTIFICATE-----\n" + base64.StdEncoding.EncodeToString(s.Certificate().Raw) + "\n-----END CERTIFICATE-----\n"
	if err := os.WriteFile(file, []byte(pem), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ca := range []string{"", file} {
		tel := telemetry.New(options(map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": s.URL + "/trace", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE": ca, "OTEL_EXPORTER_OTLP_TIMEOUT": "1000"}))
		work(t, tel)
		problems := strings.Join(tel.Close(), "\n")
		if ca == "" && (len(r.traces) > 0 || !strings.Contains(problems, "is not trusted")) || ca != "" && (len(r.traces) != 1 || problems != "") {
			t.Errorf("certificate %q: got %d requests, %q, want one request, or none if it is not trusted", ca, len(r.traces), problems)
		}
	}
}
