package plugin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/compat"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
)

func readThing(ctx context.Context, c provider.Reader, name string) diag.List {
	_, diags := c.ReadResource(ctx, provider.ReadRequest{Type: "fake_thing", Prior: thing(name)})
	return diags
}

func TestCrash(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	cmd := pluginCommand("6")
	cmd.Stderr = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, line)
	}
	c := start(t, cmd)
	diags := readThing(soon(t), c, "crash")
	wantOne(t, diags, diag.Error, "stopped unexpectedly", fakeName, "ReadResource", "exit status 2", "panic: fake gave up")
	if strings.Contains(diags[0].Detail, "CANARY") {
		t.Errorf("quotes a log line: %s", diags[0].Detail)
	}
	if diags[0].Extra != (provider.Stopped{Provider: fakeName}) {
		t.Errorf("extra: got %#v, want %#v", diags[0].Extra, (provider.Stopped{Provider: fakeName}))
	}
	diags = readThing(soon(t), c, "x")
	wantOne(t, diags, diag.Error, "stopped earlier")
	if diags[0].Extra != (provider.Stopped{Provider: fakeName, Repeat: true}) || strings.Contains(diags[0].Detail, "panic") {
		t.Errorf("second error: got %#v, want a repeated Stopped of %s that does not repeat the panic", diags[0], fakeName)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "CANARY-LOG") }) {
		t.Errorf("log lines were not passed on: %q", lines)
	}
}

// TestCrashKeepsChanges has calls under way when a provider ends: only what may have changed something is not
// a repeat of the error that explains it.
func TestCrashKeepsChanges(t *testing.T) {
	c := start(t, pluginCommand("6"))
	readThing(soon(t), c, "crash")
	for _, test := range []struct {
		rpc              string
		underWay, repeat bool
	}{{"ReadResource", true, true}, {"ApplyResourceChange", false, true}, {"ApplyResourceChange", true, false}} {
		diags := c.lost(test.rpc, test.underWay)
		if want := (provider.Stopped{Provider: fakeName, Repeat: test.repeat}); diags[0].Extra != want {
			t.Errorf("%s, under way %t: got %#v, want %#v", test.rpc, test.underWay, diags[0].Extra, want)
		}
		if says := strings.Contains(diags[0].Detail, "may have been made"); says == test.repeat {
			t.Errorf("%s, under way %t: %s", test.rpc, test.underWay, diags[0].Detail)
		}
	}
}

// TestWrittenWhileServing passes on what a provider's own code writes to standard error, in order.
func TestWrittenWhileServing(t *testing.T) {
	said, all := 0, make(chan struct{})
	cmd := pluginCommand("6")
	cmd.Stderr = func(line string) { // one at a time
		if strings.HasPrefix(line, "said ") {
			if want := fmt.Sprint("said ", said); line != want {
				t.Errorf("got %q, want %q", line, want)
			}
			if said++; said == 1000 {
				close(all)
			}
		}
	}
	wantNone(t, readThing(soon(t), start(t, cmd), "say"))
	select {
	case <-all:
	case <-soon(t).Done():
		t.Error("lines are missing")
	}
}

func TestExitDuringCall(t *testing.T) {
	c := start(t, pluginCommand("5"))
	wantOne(t, readThing(soon(t), c, "exit"), diag.Error, "stopped unexpectedly", "exit status 3")
}

func TestCrashTellsOneStory(t *testing.T) {
	c := start(t, pluginCommand("6"))
	wantWarm(t, c)
	stories := make(chan bool)
	for range 8 {
		go func() {
			diags := readThing(soon(t), c, "hang")
			s, ok := diags[0].Extra.(provider.Stopped)
			stories <- ok && !s.Repeat
		}()
	}
	go readThing(soon(t), c, "exit")
	told := 0
	for range 8 {
		if <-stories {
			told++
		}
	}
	if told > 1 {
		t.Errorf("%d calls told the story", told)
	}
}

func wantWarm(t *testing.T, c *client) {
	t.Helper()
	wantNone(t, readThing(soon(t), c, "warm up"))
}

func TestInterrupt(t *testing.T) {
	everyKind(t, func(t *testing.T, c *client) {
		wantWarmed := readThing(soon(t), c, "x")
		wantNone(t, wantWarmed)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		diags := readThing(ctx, c, "hang")
		wantOne(t, diags, diag.Error, "interrupted", "ReadResource", fakeName)
		if err, _ := diags[0].Extra.(error); !errors.Is(err, context.Canceled) {
			t.Errorf("extra %#v", diags[0].Extra)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		wantOne(t, readThing(ctx, c, "hang"), diag.Error, "took too long")
		wantNone(t, readThing(soon(t), c, "x"))
	})
}

func TestStartFailures(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	at := func(path string) Command { return Command{Path: path, Name: fakeName} }
	for _, test := range []struct {
		name    string
		command Command
		texts   []string
	}{
		{"missing", at(filepath.Join(dir, "nothing")), []string{"does not exist"}},
		{"not executable", at(file("plain", "text", 0o600)), []string{"may not execute"}},
		{"other processor", at(file("other", "\x7fELF not for us", 0o700)), []string{"not an executable for this operating system"}},
		{"garbage", pluginCommand("hello world"), []string{"not the handshake of a plugin"}},
		{"exits at once", pluginCommand("dies"), []string{"ended before it was ready", "exit status 7", "cannot find my licence"}},
		{"newer protocol", pluginCommand("1|7|unix|/none|grpc|"), []string{"needs plugin protocol 7", "newer version of Mayfly"}},
		{"older protocol", pluginCommand("1|4|unix|/none|grpc|"), []string{"supports only plugin protocol 4"}},
		{"not gRPC", pluginCommand("1|5|unix|/none|netrpc|"), []string{"doesn't serve over gRPC"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, diags := Start(soon(t), test.command)
			wantOne(t, diags, diag.Error, append(test.texts, "could not be started", fakeName)...)
			if p != nil {
				t.Error("there is a provider")
			}
		})
	}
}

// TestStartWithoutTemporaryFiles says at once what is wrong: the socket of a plugin needs a directory.
func TestStartWithoutTemporaryFiles(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	t.Setenv(tempVariable(), missing)
	begin := time.Now()
	_, diags := Start(t.Context(), Command{Path: "provider", Name: fakeName})
	wantOne(t, diags, diag.Error, "could not be started", missing, tempVariable())
	if d := time.Since(begin); d > exitTime {
		t.Errorf("it took %s", d)
	}
}

func TestStartInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, diags := Start(ctx, pluginCommand("silent"))
	wantOne(t, diags, diag.Error, "interrupted")
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, diags = Start(done, pluginCommand("6"))
	wantOne(t, diags, diag.Error, "interrupted")
}

// TestUnreachablePlugin: a plugin that says it serves, and doesn't.
func TestUnreachablePlugin(t *testing.T) {
	c := start(t, pluginCommand("deaf"))
	wantOne(t, readThing(soon(t), c, "x"), diag.Error, "stopped unexpectedly", "still runs")
}

func TestConnectionIsAuthenticated(t *testing.T) {
	c := start(t, pluginCommand("6"))
	other, _, err := newClientTLS()
	if err != nil {
		t.Fatal(err)
	}
	other.InsecureSkipVerify = true // the plugin is to refuse the client, not the other way round
	for name, creds := range map[string]credentials.TransportCredentials{
		"no certificate": insecure.NewCredentials(), "another certificate": credentials.NewTLS(other),
	} {
		if err := callDirectly(t, c, creds); err == nil {
			t.Errorf("a call with %s was answered", name)
		}
	}
	wantWarm(t, c)
}

func TestConnectionWithoutEncryption(t *testing.T) {
	cmd := pluginCommand("6")
	cmd.Plain = true
	c := start(t, cmd)
	if err := callDirectly(t, c, insecure.NewCredentials()); err != nil {
		t.Error(err)
	}
	wantWarm(t, c)
}

// callDirectly calls c's plugin over a connection of its own.
func callDirectly(t *testing.T, c *client, creds credentials.TransportCredentials) error {
	t.Helper()
	fields := c.proc.handshakeFields()
	conn, err := grpc.NewClient(fields[2]+":"+fields[3], grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var resp tfplugin6.GetResourceIdentitySchemas_Response
	return conn.Invoke(soon(t), c.method("GetResourceIdentitySchemas"), &tfplugin6.GetResourceIdentitySchemas_Request{}, &resp)
}

func TestPluginEnv(t *testing.T) {
	reader := func(string) {}
	for name, test := range map[string]struct {
		reader func(string)
		env    []string
		want   []string
	}{
		"read":               {reader, []string{"A=1", "TF_LOG_SDK_PROTO_DATA_DIR=/tmp/x", "B=2"}, []string{"A=1", "B=2"}},
		"not read by anyone": {nil, []string{"A=1", "TF_LOG_SDK_PROTO_DATA_DIR=/tmp/x"}, []string{"A=1", "TF_LOG_PROVIDER_BIG_CLOUD=off", "TF_LOG_SDK=off"}},
		"asked for":          {nil, []string{"TF_LOG_SDK=warn", "TF_LOG_PROVIDER_BIG_CLOUD=debug"}, []string{"TF_LOG_SDK=warn", "TF_LOG_PROVIDER_BIG_CLOUD=debug"}},
		"asked for in half":  {nil, []string{"TF_LOG_SDK=", "TF_LOG_PROVIDER_BIG_CLOUD=debug"}, []string{"TF_LOG_SDK=", "TF_LOG_PROVIDER_BIG_CLOUD=debug", "TF_LOG_SDK=off"}},
	} {
		if got := pluginEnv(Command{Name: "registry.example.com/some/big-cloud", Env: test.env, Stderr: test.reader}); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// TestReattach connects to a provider that was started for a debugger.
func TestReattach(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = pluginCommand("debug").Env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}()
	printed, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ParseReattach(printed)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // Close disconnects only, so a second time works
		p, diags := Reattach(soon(t), fakeName, compat.Engine{Name: compat.Terraform, Version: "1.16.0"}, parsed[addr.DefaultProvider("fake")])
		wantNone(t, diags)
		wantOne(t, p.Configure(soon(t), cty.ObjectVal(map[string]cty.Value{"region": cty.StringVal("north")})), diag.Warning, "version 1.16.0")
		wantNone(t, readThing(soon(t), p, "x"))
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestReattachErrors(t *testing.T) {
	for env, text := range map[string]string{
		`no JSON`: "not the JSON text", `{"a/b/c/d": {}}`: "not a provider address", `{"hashicorp/a": {"Addr": {"Network": "udp"}}}`: "no usable address",
	} {
		if _, err := ParseReattach(env); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", env, err)
		}
	}
	for _, env := range []string{"", `{"registry.terraform.io/-/a": {}}`} {
		if m, err := ParseReattach(env); err != nil || len(m) > 0 {
			t.Errorf("ParseReattach(%q): got %v, %v, want none", env, m, err)
		}
	}
	both, err := ParseReattach(`{"registry.terraform.io/hashicorp/a": {"ProtocolVersion": 5, "Addr": {"Network": "unix"}},
		"registry.opentofu.org/x/b": {"ProtocolVersion": 6, "Addr": {"Network": "unix"}}, "registry.terraform.io/x/b": {"ProtocolVersion": 5, "Addr": {"Network": "unix"}},
		"example.com/x/c": {"ProtocolVersion": 6, "Addr": {"Network": "unix"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for p, c := range both {
		got[p.String()] = c.ProtocolVersion
	}
	if want := map[string]int{
		"registry.terraform.io/hashicorp/a": 5, "registry.opentofu.org/hashicorp/a": 5,
		"registry.opentofu.org/x/b": 6, "registry.terraform.io/x/b": 5, "example.com/x/c": 6,
	}; !maps.Equal(got, want) {
		t.Errorf("ParseReattach: got the protocols %v, want %v", got, want)
	}
	at, err := resolve("unix", filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	for text, cfg := range map[string]*ReattachConfig{
		"cannot be reached": {Protocol: protocolGRPC, Addr: at}, "over gRPC": {Protocol: "netrpc", Addr: at},
		"protocol 9": {Protocol: protocolGRPC, ProtocolVersion: 9, Addr: at},
	} {
		_, diags := Reattach(soon(t), fakeName, compat.Engine{}, cfg)
		wantOne(t, diags, diag.Error, text, fakeName)
	}
}

func TestTail(t *testing.T) {
	var lines []string
	tl := newTail(func(l string) { lines = append(lines, l) })
	out := &tl.direct
	if tl.text() != "" {
		t.Errorf("empty tail: got %q, want none", tl.text())
	}
	fmt.Fprint(out, "first\r\n\n{\"@message\":\"log\"}\nsec", "ond \x1b[31m", strings.Repeat("x", 2*tailWidth), "\nunfinished")
	want := "\n\nThe provider's last messages:\n  first\n  second \ufffd[31m" + strings.Repeat("x", tailWidth-12) + "...\n  unfinished"
	if got := tl.text(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(lines) != 4 || lines[0] != "first" || lines[2] != `{"@message":"log"}` {
		t.Errorf("lines passed on: got %q, want 4, with \"first\" as the first and a log message as the third", lines)
	}
	fmt.Fprintln(&tl.synced, "other stream")
	if got := tl.text(); !strings.HasSuffix(got, "other stream\n  unfinished") {
		t.Errorf("two streams: %q", got)
	}
	for i := range 100 {
		fmt.Fprintln(out, "\nline", i)
	}
	if got := tl.text(); strings.Count(got, "line") != tailLines || !strings.HasSuffix(got, "line 99") {
		t.Errorf("last lines: got %q, want %d that end with line 99", got, tailLines)
	}
	fmt.Fprintln(out, "panic: boom")
	for i := range 100 {
		fmt.Fprintln(out, "frame", i)
	}
	if got := tl.text(); strings.Contains(got, "line") || !strings.Contains(got, "panic: boom\n  frame 0\n") || strings.Contains(got, "frame 99") {
		t.Errorf("a panic: %q", got)
	}
	fmt.Fprint(out, strings.Repeat("y", 3*longestLine))
	if len(out.partial) > longestLine {
		t.Errorf("%d bytes of an endless line are kept", len(out.partial))
	}
}
