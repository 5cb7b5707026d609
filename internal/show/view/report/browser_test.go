package report_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// browser is a Chromium without a window, which is spoken to over two pipes. It belongs to one goroutine.
type browser struct {
	*testing.T
	in      io.Writer
	out     *bufio.Reader
	last    int
	session string
	errors  []string // exceptions, and what the content security policy refused
}

// message is a message of Chromium's protocol for tools.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// newBrowser starts a browser, or skips the test if the machine has none.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "google-chrome", "chromium-browser"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("the page is looked at with Chromium, which is not installed")
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // file descriptors 3 and 4, as it expects
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &browser{T: t, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		if _, err := io.WriteString(in, `{"id":0,"method":"Browser.close"}`+"\x00"); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // it was asked to end
		in.Close()
		out.Close()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call calls a method and decodes its result into result, unless that is nil.
func (b *browser) call(method string, params map[string]any, result any) {
	b.Helper()
	b.last++
	m := message{ID: b.last, Session: b.session, Method: method}
	if params != nil {
		m.Params = params
	}
	text, err := json.Marshal(m)
	if err == nil {
		_, err = b.in.Write(append(text, 0))
	}
	if err != nil {
		b.Fatal(err)
	}
	for {
		got := b.next()
		if got.ID != b.last {
			continue
		}
		if got.Error != nil {
			b.Fatalf("%s: %s", method, got.Error)
		}
		if result != nil {
			if err := json.Unmarshal(got.Result, result); err != nil {
				b.Fatal(err)
			}
		}
		return
	}
}

// next returns the next message, and notes what went wrong in the page.
func (b *browser) next() message {
	b.Helper()
	text, err := b.out.ReadBytes(0)
	if err != nil {
		b.Fatal(err)
	}
	var m message
	if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m); err != nil {
		b.Fatal(err)
	}
	if m.Method == "Runtime.exceptionThrown" || m.Method == "Log.entryAdded" {
		b.errors = append(b.errors, fmt.Sprint(m.Params))
	}
	return m
}

// open opens a file at a width, and waits until its script has run.
func (b *browser) open(path string, width int, dark bool) {
	b.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 1200, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Page.navigate", map[string]any{"url": "about:blank"}, nil)
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	b.until(`document.documentElement?.dataset.ready !== undefined`, "true")
}

// until waits until an expression has a value.
func (b *browser) until(expression, value string) {
	b.Helper()
	got := ""
	for range 1000 {
		if got = b.text(expression); got == value {
			return
		}
		time.Sleep(10 * time.Millisecond) // the page has no way to tell
	}
	b.Fatalf("%s is %q, not %q; the browser reports %q", expression, got, value, b.errors)
}

// text evaluates an expression whose value is a string.
func (b *browser) text(expression string) string {
	b.Helper()
	var got struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": "String(" + expression + ")", "returnByValue": true, "awaitPromise": true}, &got)
	if got.ExceptionDetails != nil {
		b.Fatalf("%s: %s", expression, got.ExceptionDetails)
	}
	return fmt.Sprint(got.Result.Value)
}

// want checks the values of expressions, given in pairs.
func (b *browser) want(pairs ...string) {
	b.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := b.text(pairs[i]); got != pairs[i+1] {
			b.Errorf("%s: got %q, want %q", pairs[i], got, pairs[i+1])
		}
	}
}

// picture writes a picture of the page into the directory that MAYFLY_TEST_PICTURES names.
func (b *browser) picture(name string) {
	b.Helper()
	dir := os.Getenv("MAYFLY_TEST_PICTURES")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".png"), data, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
}
