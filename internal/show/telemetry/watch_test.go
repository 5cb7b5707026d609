package telemetry_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/show/telemetry"
)

// watcher notes the names of spans.
type watcher struct {
	wanted string // the one name of spans that it makes use of; "" for all
	mu     sync.Mutex
	names  []string
}

func (w *watcher) Began(s *trace.Span) { w.note("begins " + s.Name) }
func (w *watcher) Ended(s *trace.Span) { w.note("ends " + s.Name) }
func (w *watcher) Wants(name string) bool {
	return w.wanted == "" || name == w.wanted
}

func (w *watcher) note(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names = append(w.names, what)
}

// TestWatch has spans watched, whether they are exported or not.
func TestWatch(t *testing.T) {
	want := []string{"begins mayfly apply", "begins create", "begins ApplyResource", "ends ApplyResource", "ends create", "ends mayfly apply"}
	for _, vars := range []map[string]string{nil, {"OTEL_TRACES_EXPORTER": "console"}} {
		w := &watcher{}
		opt := options(vars)
		opt.Watch = []telemetry.Watcher{nil, w}
		tel := telemetry.New(opt)
		work(t, tel)
		if problems := tel.Close(); len(problems) > 0 || !slices.Equal(w.names, want) {
			t.Errorf("%v: got %q, %q, want %q, no problems", vars, w.names, problems, want)
		}
	}
	w := &watcher{wanted: "create"}
	opt := options(nil)
	opt.Watch = []telemetry.Watcher{w}
	tel := telemetry.New(opt)
	work(t, tel)
	if tel.Close(); !slices.Equal(w.names, []string{"begins mayfly apply", "begins create", "ends create", "ends mayfly apply"}) {
		t.Errorf("watcher of one kind of spans: got %q, want apply with create in it", w.names)
	}
	noted := ""
	opt = options(nil)
	opt.Noted = func(_ trace.Level, text string) { noted += text }
	tel = telemetry.New(opt)
	ctx, root := tel.Begin(t.Context(), "mayfly apply")
	trace.Note(ctx, trace.Info, "it is %d", 1)
	root.Finish(true)
	if tel.Close(); noted != "it is 1" {
		t.Errorf("what is noted: got %q, want %q", noted, "it is 1")
	}
	var none *telemetry.Telemetry
	if ctx, span := none.Begin(t.Context(), "x"); ctx != t.Context() || span != nil || none.Close() != nil {
		t.Errorf("no telemetry: got the span %v, want none", span)
	}
}

// TestWatchEndsAtOnce has nothing to wait for at its end.
func TestWatchEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opt := options(nil)
		opt.Watch = []telemetry.Watcher{&watcher{}}
		tel, began := telemetry.New(opt), time.Now()
		work(t, tel)
		if tel.Close(); time.Since(began) > 0 {
			t.Errorf("it took %s", time.Since(began))
		}
	})
}

// TestRedactions exports without a function that redacts, and with one that ends abnormally. In that case,
// nothing is written, and Close says why.
func TestRedactions(t *testing.T) {
	for name, redact := range map[string]func(string) string{"none": nil, "broken": func(string) string { panic("broken") }} {
		var out bytes.Buffer
		opt := options(map[string]string{"OTEL_TRACES_EXPORTER": "console"})
		opt.Stderr, opt.Redact = &out, redact
		tel := telemetry.New(opt)
		work(t, tel)
		problems := tel.Close()
		if (len(problems) > 0) != (redact != nil) || strings.Contains(out.String(), "canary") != (redact == nil) {
			t.Errorf("%s: got problems %q and written %q, want the secret withheld and a problem: %t", name, problems, out.String(), redact != nil)
		}
	}
}

// TestClientCertificate shows a receiver the certificate that it demands.
func TestClientCertificate(t *testing.T) {
	r := &receiver{t: t}
	s := httptest.NewUnstartedServer(r)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	s.StartTLS()
	defer s.Close()
	key, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certificateFile, keyFile := filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{certificateFile: {Type: "CERTIFICATE", Bytes: s.Certificate().Raw}, keyFile: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tel := telemetry.New(options(map[string]string{
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": s.URL + "/trace", "OTEL_EXPORTER_OTLP_CERTIFICATE": certificateFile,
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": certificateFile, "OTEL_EXPORTER_OTLP_CLIENT_KEY": keyFile,
	}))
	work(t, tel)
	if problems := tel.Close(); len(problems) > 0 || len(r.traces) != 1 {
		t.Errorf("got %d requests, %q, want 1 without problems", len(r.traces), problems)
	}
}
