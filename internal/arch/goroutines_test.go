package arch

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"
)

// calm are the functions that start goroutines that need not catch panics, by file, with the reason. A panic
// that nothing catches ends the process: what is open is not closed, and the runtime prints the value, which
// may be a secret.
var calm = map[string]string{
	"cmd/mayfly/internal/interrupt/interrupt.go Once":     "waits for a channel",
	"cmd/mayfly/internal/signin/signin.go visit":          "nothing is open while a user logs in",
	"cmd/mayfly/internal/term/log.go Add":                 "writes bytes to a stream",
	"cmd/mayfly/internal/term/outlet.go write":            "writes bytes to a stream",
	"cmd/mayfly/internal/term/prompt.go await":            "reads a line",
	"cmd/mayfly/main.go endOnQuit":                        "ends the process",
	"internal/engine/apply.go giveUpLate":                 "closing is guarded",
	"internal/engine/apply_checks.go finish":              "readNested guards what it reads",
	"internal/engine/order/order.go start":                "steps are guarded",
	"internal/engine/journal/journal.go whileOthersBegin": "gives a slot back",
	"internal/engine/ephemeral/open.go callWithGrace":     "ends contexts",
	"internal/engine/ephemeral/session.go Fresh":          "renewals are guarded",
	"internal/engine/ephemeral/session.go openBeside":     "each opening catches its panics",
	"event/during.go During":                              "makes a run of the caller's, whose projects are guarded",
	"event/queue.go add":                                  "calls of observers are guarded",
	"event/reporter.go start":                             "adds an event to the queue",
	"internal/base/future/pool.go Go":                     "tasks are guarded where they are queued",
	"internal/base/future/pool.go start":                  "tasks are guarded where they are queued",
	"internal/install/login/callback.go serve":            "nothing is open while a user logs in",
	"internal/install/modules/download.go locate":         "nothing is open while modules are installed",
	"internal/install/modules/download.go fetch":          "nothing is open while modules are installed",
	"internal/install/selected.go Selected":               "hashes files, while nothing is open",
	"internal/install/web/download.go attempt":            "ends a context",
	"internal/install/web/stream.go RoundTrip":            "ends a context",
	"internal/engine/listing/list.go New":                 "ends a context",
	"internal/engine/lease/end.go awaitOpens":             "wakes a waiting goroutine",
	"internal/engine/lease/lease.go startClose":           "closing is guarded by those who open",
	"internal/engine/lease/lease.go runClose":             "closing is guarded by those who open",
	"internal/engine/lease/renew.go newLife":              "renewals are guarded by those who open",
	"internal/engine/lease/renew.go end":                  "ends a context",
	"internal/engine/lease/renew.go fresh":                "ends a context",
	"internal/provider/builtin/remotestate.go ReadData":   "ends a context",
	"internal/provider/keep/provider.go during":           "ends a context",
	"internal/provider/keep/tunnel/tunnel.go forward":     "ends a connection",
	"internal/provider/plugin/process.go start":           "waits for a process",
	"internal/provider/plugin/server.go serve":            "kills a process",
	"internal/provider/plugin/unary/client.go connection": "ends a context",
	"internal/provider/plugin/unary/conn.go newConn":      "the loop catches panics itself",
	"internal/provider/plugin/unary/conn.go flush":        "writes bytes to a stream",
	"internal/provider/plugin/unary/conn.go acknowledge":  "writes bytes to a stream",
	"internal/provider/processes/catalog.go Load":         "the start of a provider catches panics itself",
	"internal/provider/processes/processes.go StopOn":     "each call catches panics",
	"internal/provider/processes/proxy.go work":           "asks to stop, as a call that catches panics",
	"internal/engine/provision/local.go runOutput":        "sends a signal",
	"internal/engine/provision/remote.go execute":         "ends a context",
	"internal/base/ssh/client.go newClient":               "ends connections",
	"internal/base/ssh/client.go keepAlives":              "ends connections",
	"internal/base/ssh/client.go watch":                   "ends connections",
	"internal/base/ssh/client.go run":                     "ends connections",
	"internal/base/ssh/dial.go handshake":                 "ends a connection",
	"internal/base/ssh/proxy.go dial":                     "ends a connection",
	"internal/stores/remote/recover.go Load":              "retry catches panics",
	"internal/stores/remote/recover.go Text":              "retry catches panics",
	"internal/stores/remote/retry.go linger":              "ends a context",
	"internal/show/view/waiting.go Began":                 "writes a line",
}

// TestGoroutinesCatchPanics looks at everything that runs on a goroutine of its own: go statements, and what
// is given to methods called Go and to AfterFunc.
func TestGoroutinesCatchPanics(t *testing.T) {
	used := map[string]bool{}
	for _, s := range sources(t) {
		if !s.shipped() {
			continue
		}
		for _, d := range s.file.Decls {
			name := s.name
			if f, ok := d.(*ast.FuncDecl); ok {
				name += " " + f.Name.Name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if run := started(n); run == nil || catches(run) {
					return true
				}
				used[name] = true
				if calm[name] == "" {
					t.Errorf("%s: a panic here ends the process: call what it runs by bug.Call, or list %q with the reason why there is none", s.at(n.Pos()), name)
				}
				return true
			})
		}
	}
	for name := range calm {
		if !used[name] {
			t.Errorf("%s starts no goroutine that does not catch panics: the exception is needed no more", name)
		}
	}
}

// started returns what n runs on a goroutine of its own, or nil.
func started(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.GoStmt:
		return n.Call
	case *ast.CallExpr:
		if fun, ok := n.Fun.(*ast.SelectorExpr); ok && (fun.Sel.Name == "Go" || fun.Sel.Name == "GoRanked" || fun.Sel.Name == "AfterFunc") && len(n.Args) > 0 {
			return n.Args[len(n.Args)-1]
		}
	}
	return nil
}

// catches reports whether a function, or the call of one, catches panics.
func catches(run ast.Node) bool {
	found := false
	ast.Inspect(run, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			switch name := types.ExprString(call.Fun); {
			case name == "bug.Call", name == "bug.Catch", name == "recover", strings.HasSuffix(name, ".Guard"):
				found = true
			}
		}
		return !found
	})
	return found
}

func TestCatches(t *testing.T) {
	for text, want := range map[string]bool{
		"go f()": false, "go func() { f() }()": false, "go func() { _ = bug.Call(f) }()": true, "wg.Go(func() { f() })": false,
		"pool.Go(func(t *T) { r.Guard(x, f) })": true, "pool.GoRanked(1, func(t *T) { f() })": false, "time.AfterFunc(d, f)": false, "f()": true,
	} {
		s, err := parse("x/x.go", "package x\nfunc g() {\n"+text+"\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		got := true
		ast.Inspect(s.file, func(n ast.Node) bool {
			if run := started(n); run != nil && !catches(run) {
				got = false
			}
			return true
		})
		if got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
}
