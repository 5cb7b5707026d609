package report_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
	"github.com/mayfly-iac/mayfly/internal/show/view/report"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

const canary = "CANARY-7f3a"

// hostile is an instance key that would end a script and begin another one.
const hostile = "</script><img src=x onerror=alert(1)>&\u202e"

// object is a value of the resources in the plans of these tests.
func object(t testing.TB, name, size cty.Value) value.Durable {
	return fixture.Seal(t, cty.ObjectVal(map[string]cty.Value{"name": name, "size": size, "password": cty.StringVal(canary).Mark(value.Sensitive)}))
}

// planOf returns a plan with n updates in four modules, beside one change of each other kind.
func planOf(t testing.TB, n int) *plan.Plan {
	t.Helper()
	two, three := cty.NumberIntVal(2), cty.NumberIntVal(3)
	p := &plan.Plan{}
	source, err := addr.ParseProvider("example.com/test/t")
	if err != nil {
		t.Fatal(err)
	}
	add := func(address string, action plan.Action, before, after value.Durable) *plan.Change {
		c := &plan.Change{Addr: fixture.Instance(t, address), Action: action, Before: before, After: after, Provider: addr.ProviderConfig{Provider: source}}
		c.PrevAddr = c.Addr
		p.Changes = append(p.Changes, c)
		return c
	}
	add("t_x.new", plan.Create, value.Durable{}, object(t, cty.StringVal("new\nline"), cty.UnknownVal(cty.Number)))
	add("t_x.old", plan.Delete, object(t, cty.StringVal("old"), two), value.Durable{}).Reason = plan.DeleteNoConfig
	replaced := add("t_x.web", plan.DeleteThenCreate, object(t, cty.StringVal("a"), two), object(t, cty.StringVal("b"), two))
	replaced.RequiredReplace = []cty.Path{cty.GetAttrPath("name")}
	odd := add("t_x.odd", plan.Create, value.Durable{}, object(t, cty.StringVal("<b>bold</b>"+hostile), two))
	odd.Addr.Key = addr.StringKey(hostile)
	odd.PrevAddr = odd.Addr
	add("t_x.same", plan.NoOp, object(t, cty.StringVal("s"), two), object(t, cty.StringVal("s"), two))
	for i := range n {
		name := cty.StringVal(fmt.Sprintf("thing number %d", i))
		c := add(fmt.Sprintf("module.m%d.t_x.many[%d]", i%4, i), plan.Update, object(t, name, two), object(t, name, three))
		c.Deps = []plan.Dep{{Resource: replaced.Addr.Abs()}}
	}
	return p
}

// written writes the page of a plan to a file.
func written(t testing.TB, r *report.Report, p *plan.Plan) string {
	t.Helper()
	why := func(c *plan.Change) []string { return []string{"because of " + c.Addr.String(), "second reason\u202e"} }
	if err := r.Plan(p, nil, why); err != nil {
		t.Fatal(err)
	}
	return stored(t, r)
}

func stored(t testing.TB, r *report.Report) string {
	t.Helper()
	var doc bytes.Buffer
	if err := r.Write(&doc); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(doc.Bytes(), []byte(canary)) {
		t.Error("the page has a sensitive value")
	}
	if bytes.Contains(doc.Bytes(), []byte("<img")) || bytes.Contains(doc.Bytes(), []byte("<b>bold")) || bytes.ContainsRune(doc.Bytes(), '\u202e') {
		t.Error("a text of the run is in the page as it is")
	}
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, doc.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPage looks at a page of an apply as a reader does.
func TestPage(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := planOf(t, 12)
	r := report.New("Apply", "today", func(s string) string { return strings.ReplaceAll(s, "second", "2nd") })
	at := time.Unix(1700000000, 0)
	for i, name := range []string{"t_x.new", "t_x.old", "t_x.web", "module.m1.t_x.many[1]"} {
		o := addr.Object{Instance: fixture.Instance(t, name)}
		op := []event.Op{event.OpCreate, event.OpDelete, event.OpDelete, event.OpUpdate}[i]
		r.Event(event.Event{Time: at, Kind: event.Started, Op: op, Object: o})
		kind := event.Completed
		if name == "t_x.web" {
			kind = event.Failed
		}
		r.Event(event.Event{Time: at.Add(time.Second), Kind: kind, Op: op, Object: o, Elapsed: time.Second})
	}
	r.Note("Error: it <failed>\u202e", true)
	path := written(t, r, p)

	for _, width := range []int{400, 800, 1600} {
		for _, dark := range []bool{false, true} {
			b.open(path, width, dark)
			b.want("document.documentElement.scrollWidth <= innerWidth", "true", poorContrast, "",
				`[...document.querySelectorAll("#list details")].every(d => d.offsetHeight < 200)`, "true")
			b.picture(fmt.Sprintf("apply %d dark %t", width, dark))
		}
	}
	b.want(
		`document.querySelectorAll("main,header").length`, "2", `document.querySelectorAll("h1").length`, "1",
		`[...document.querySelectorAll("h2")].map(h => h.textContent).join()`, "Errors and warnings,Changes,Order,Timeline",
		`document.querySelector("label[for=find]").control.id`, "find",
		`document.querySelector("header").textContent.includes("Applied: 3 done, 1 failed, 12 not begun.")`, "true",
		`document.querySelector("#notes pre").textContent`, `Error: it <failed>\u{202e}`,
		`document.querySelectorAll("#list details").length`, "16", `document.querySelectorAll("#list pre").length`, "0",
		`[...document.querySelectorAll("#list h3")].map(h => h.textContent).join()`, "Root module,module.m0,module.m1,module.m2,module.m3",
	)
	// A row is filled in when it is unfolded.
	b.text(`document.querySelector("#list details.replace summary").click()`)
	b.until(`document.querySelectorAll("#list pre").length`, "1")
	b.want(`document.querySelector("#list details.replace pre").textContent.includes('name     = "a" -> "b" # forces replacement')`, "true",
		`document.querySelector("#list details.replace pre").textContent.includes("(sensitive value)")`, "false", // it does not change
		`document.querySelector("#list details.replace .why").textContent`, `because of t_x.web2nd reason\u{202e}`)
	// Search, filters by kind and by outcome, and all together.
	b.text(`(document.querySelector("#find").value = "m1 MANY", document.querySelector("#find").dispatchEvent(new Event("input")))`)
	b.until(`document.querySelector("#found").textContent`, "3 of 16")
	b.text(`[...document.querySelectorAll("#kinds button")].find(b => b.textContent.startsWith("done")).click()`)
	b.want(`document.querySelector("#found").textContent`, "1 of 16", `document.querySelector("#kinds button[aria-pressed=true]").textContent`, "done 3",
		`document.querySelector("#list .address").textContent`, "module.m1.t_x.many[1]")
	// An address opens its row, whatever it looks like.
	b.text(`(location.hash = encodeURIComponent([...document.querySelectorAll("#list .address")][0].textContent))`)
	b.until(`document.activeElement.parentElement.open`, "true")
	b.text(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true}))`)
	b.want(`document.activeElement.id`, "find")
	// The timeline comes when it is asked for.
	b.want(`document.querySelectorAll("#run .chart").length`, "0")
	b.text(`document.querySelector("#run summary").click()`)
	b.until(`document.querySelectorAll("#run .chart").length`, "1")
	b.want(poorContrast, "", `document.querySelectorAll("#run .scroll").length > 0`, "true",
		`[...document.querySelectorAll("pre,.chart,.scroll")].every(e => e.tabIndex === 0)`, "true") // keys scroll them too
	b.picture("apply unfolded")
	if len(b.errors) > 0 {
		t.Errorf("the browser reports %q", b.errors)
	}
}

// poorContrast names a text whose contrast with what is behind it is lower than 4.5.
const poorContrast = `(() => {
  const parse = c => (c.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  for (const e of document.querySelectorAll("body *:not(svg *)")) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility()) continue;
    let bg = [255, 255, 255], at = e;
    for (; at; at = at.parentElement) {
      const c = parse(getComputedStyle(at).backgroundColor);
      if (c.length === 3 || c[3] === 1) { bg = c; break; }
    }
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(bg)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) return e.tagName + "." + e.className + " " + ratio.toFixed(2) + " " + e.textContent.slice(0, 30);
  }
  return "";
})()`

// TestManyChanges opens a page with ten thousand changes. Only those in sight become elements.
func TestManyChanges(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	path := written(t, report.New("Plan", "today", nil), planOf(t, 10_000))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	b.open(path, 1200, false)
	t.Logf("%d kB, ready after %s ms", info.Size()/1000, b.text("document.documentElement.dataset.ready"))
	b.want(`document.querySelector("#found").textContent`, "10004 in all", `document.querySelectorAll("#list details").length <= 400`, "true")
	b.text(`(document.querySelector("#find").value = "many[9999]", document.querySelector("#find").dispatchEvent(new Event("input")))`)
	b.until(`document.querySelector("#found").textContent`, "1 of 10004")
	if len(b.errors) > 0 {
		t.Errorf("the browser reports %q", b.errors)
	}
}

// TestFoldedPage opens a page with changes that are alike. What became different is apart from them, and each
// is there when it is asked for.
func TestFoldedPage(t *testing.T) {
	t.Parallel()
	p := planOf(t, 1000)
	for i, c := range p.Changes[5:] {
		c.Addr = fixture.Instance(t, fmt.Sprintf("t_x.many[%d]", i))
		c.PrevAddr = c.Addr
	}
	r := report.New("Apply", "today", nil)
	r.Fold = true
	for i, c := range p.Changes[5:] {
		kind := event.Completed
		if i == 500 {
			kind = event.Failed
		}
		r.Event(event.Event{Time: time.Unix(1700000000, 0), Kind: kind, Op: event.OpUpdate, Object: c.Object()})
	}
	path := written(t, r, p)
	b := newBrowser(t)
	b.open(path, 1200, false)
	b.want(`document.querySelectorAll("#list details").length`, "7", `document.querySelector("#found").textContent`, "1004 in all", poorContrast, "",
		`document.querySelector("#list .like summary").textContent`, "998 more like it, among t_x.many[1] to t_x.many[999]: each will be updated in-place; they differ in name done",
		`[...document.querySelectorAll("#list .outcome.bad")].map(o => o.closest("details").querySelector(".address").textContent).pop()`, "t_x.many[500]")
	b.picture("folded")
	b.text(`document.querySelector("#list .like summary").click()`)
	b.until(`document.querySelectorAll("#list .like .change").length`, "200")
	b.text(`document.querySelector("#list .like > button").click()`)
	b.until(`document.querySelectorAll("#list .like .change").length`, "400")
	b.text(`document.querySelector("#list .like .change summary").click()`)
	b.until(`document.querySelectorAll("#list .like .change pre").length`, "1")
	b.text(`(document.querySelector("#find").value = "many[77", document.querySelector("#find").dispatchEvent(new Event("input")))`)
	b.until(`document.querySelector("#found").textContent`, "11 of 1004")
	b.want(`document.querySelectorAll("#list details").length`, "2")
	if len(b.errors) > 0 {
		t.Errorf("the browser reports %q", b.errors)
	}
}

// TestStatePage looks at the page of a state.
func TestStatePage(t *testing.T) {
	t.Parallel()
	r := report.New("", "today", nil)
	r.Object("t_x.a", "", "# t_x.a:\nresource \"t_x\" \"a\" {\n}\n")
	r.Outputs("o = 1\n")
	path := stored(t, r)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h1>State</h1>", ">Objects</h2>", `"a":"t_x.a"`, "o = 1"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}
