package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector receives telemetry and keeps every byte of it.
type collector struct {
	mu    sync.Mutex
	bytes bytes.Buffer
	spans []*tracepb.Span
	names []string // of metrics
}

// ServeHTTP implements http.Handler.
func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = r.Header.Write(&c.bytes)
	c.bytes.WriteString(r.URL.String())
	c.bytes.Write(body)
	var traces tracepb.TracesData
	var metrics metricspb.MetricsData
	switch {
	case r.URL.Path == "/v1/traces" && proto.Unmarshal(body, &traces) == nil:
		c.spans = append(c.spans, traces.ResourceSpans[0].ScopeSpans[0].Spans...)
	case r.URL.Path == "/v1/metrics" && proto.Unmarshal(body, &metrics) == nil:
		for _, m := range metrics.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			c.names = append(c.names, m.Name)
		}
	default:
		w.WriteHeader(http.StatusBadRequest)
	}
}

// tree returns the spans as a tree of lines. Those with the same parent are in the order of their text.
func (c *collector) tree() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	children := map[string][]string{} // by the ID of the parent, the text of each child with all below it
	ids := map[string]bool{}
	for _, s := range c.spans {
		ids[string(s.SpanId)] = true
	}
	var text func(s *tracepb.Span, indent string) string
	text = func(s *tracepb.Span, indent string) string {
		line := indent + s.Name
		for _, a := range s.Attributes {
			line += fmt.Sprintf(" %s=%s", a.Key, a.Value.GetStringValue())
			if a.Value.GetStringValue() == "" {
				line += fmt.Sprint(a.Value.GetIntValue())
			}
		}
		if s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR {
			line += " FAILED"
		}
		var below []string
		for _, other := range c.spans {
			if string(other.ParentSpanId) == string(s.SpanId) {
				below = append(below, text(other, indent+"  "))
			}
		}
		slices.Sort(below)
		return line + "\n" + strings.Join(below, "")
	}
	for _, s := range c.spans {
		if !ids[string(s.ParentSpanId)] {
			children[""] = append(children[""], text(s, ""))
		}
	}
	return strings.Join(children[""], "")
}

// secret occurs nowhere but where a test puts it.
const secret = "correct-horse-battery-staple"

// traced runs the program in the current directory and returns its status and output.
func traced(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	environ = append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, environ...)
	code = run(t.Context(), args, environment{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Environ: environ,
		Notify: func(c chan<- os.Signal) func() { return func() { signal.Stop(c) } },
	})
	return code, out.String(), errs.String()
}

// tracedConfig has every kind of thing that is traced, with a secret in all values.
const tracedConfig = `
terraform {
  required_providers {
    keep = { source = "mayfly.dev/mayfly/keep" }
  }
}

variable "secret" {
  ephemeral = true
}

variable "hidden" {
  sensitive = true
}

provider "keep" {
  path = "${path.module}/keep.age"
}

ephemeral "keep_password" "new" {
  length = 32
}

resource "keep_secret" "each" {
  for_each         = toset(["one", "two"])
  name             = each.key
  value_wo         = "${var.secret}${ephemeral.keep_password.new.result}"
  value_wo_version = 1
}

ephemeral "keep_secret" "back" {
  name = keep_secret.each["one"].id
}

resource "terraform_data" "user" {
  input = var.hidden
  provisioner "local-exec" {
    command     = "echo \"$TRACEPARENT\" > traceparent; echo \"$SECRET\""
    environment = { SECRET = ephemeral.keep_secret.back.value }
  }
}

resource "terraform_data" "broken" {
  input = "plain"
  provisioner "local-exec" {
    command = "echo '${nonsensitive(var.hidden)}' >&2; exit 1"
  }
}

data "keep_secret_names" "all" {
  depends_on = [keep_secret.each]
}
`

// TestTelemetry applies a configuration with a receiver and compares the tree of spans. It searches every
// byte that was received for secrets.
func TestTelemetry(t *testing.T) {
	golden, err := filepath.Abs("testdata/telemetry.golden")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("main.tf", []byte(tracedConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	var c collector
	server := httptest.NewServer(&c)
	defer server.Close()
	environ := []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL, "OTEL_BSP_EXPORT_TIMEOUT=60000", "TRACEPARENT=00-0123456789abcdef0123456789abcdef-0123456789abcdef-01",
		"TF_VAR_secret=" + secret, "TF_VAR_hidden=" + secret,
	}
	var seen strings.Builder
	for _, args := range [][]string{{"init"}, {"apply", "-auto-approve", "-parallelism=1"}, {"plan", "-detailed-exitcode"}, {"destroy", "-auto-approve", "-parallelism=1"}, {"output", "nothing"}} {
		_, _, stderr := traced(t, environ, args...)
		if strings.Contains(stderr, "Telemetry") {
			t.Error(stderr)
		}
		seen.WriteString(c.tree())
		if args[0] == "apply" {
			c.checkTraceparent(t)
		}
		c.spans = nil
	}
	if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(seen.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), seen.String()); diff != "" {
		t.Errorf("the spans differ from testdata/telemetry.golden (-want +got):\n%s", diff)
	}
	if bytes.Contains(c.bytes.Bytes(), []byte(secret)) {
		t.Error("a secret was received")
	}
	if key, err := os.ReadFile("keep.age.key"); err == nil && bytes.Contains(c.bytes.Bytes(), bytes.TrimSpace(key)) {
		t.Error("the key of the secret manager was received")
	}
	for _, name := range []string{"mayfly.command.duration", "mayfly.operation.duration", "mayfly.provider.call.duration"} {
		if !slices.Contains(c.names, name) {
			t.Errorf("the metric %s was not received", name)
		}
	}
}

// checkTraceparent checks that the command of the provisioner was part of the span of its provisioner.
func (c *collector) checkTraceparent(t *testing.T) {
	t.Helper()
	written, err := os.ReadFile("traceparent")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(strings.TrimSpace(string(written)), "-")
	at := slices.IndexFunc(c.spans, func(s *tracepb.Span) bool { return len(parts) == 4 && fmt.Sprintf("%x", s.SpanId) == parts[2] })
	if at < 0 || c.spans[at].Name != "provision" || parts[1] != "0123456789abcdef0123456789abcdef" {
		t.Errorf("parent of the command: got %q, want the span of provision", written)
	}
}

// TestTelemetryNeverFails runs commands while the receiver fails, or settings are wrong: neither the status
// nor standard output differs, except that -json has the warning as a message.
func TestTelemetryNeverFails(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("main.tf", []byte("output \"x\" {\n  value = 1\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	defer server.Close()
	for _, args := range [][]string{{"plan", "-detailed-exitcode"}, {"-pedantic", "apply", "-auto-approve"}, {"output", "-json"}, {"plan", "-json"}} {
		plainCode, plain, _ := traced(t, nil, args...)
		for _, setting := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL, "OTEL_TRACES_EXPORTER=zipkin"} {
			code, stdout, stderr := traced(t, []string{setting}, args...)
			json := args[0] == "plan" && args[1] == "-json"
			if code != plainCode || !json && args[0] != "-pedantic" && stdout != plain {
				t.Errorf("%q with %s: status: got %d, want %d\n%s\n%s", args, setting, code, plainCode, stdout, plain)
			}
			where := stderr
			if json {
				where = strings.ReplaceAll(stdout, "Warning: Telemetry", "")
			}
			if strings.Count(where, "Telemetry is incomplete") != 1 || json && stderr != "" {
				t.Errorf("%q with %s: got\n%s\n%s\nwant one warning about telemetry", args, setting, stdout, stderr)
			}
		}
	}
}
