package timeline

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

func written(t testing.TB, p *tape) string {
	t.Helper()
	var out bytes.Buffer
	if err := p.r.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// parse returns the elements and texts of a page, which must be well-formed.
func parse(t testing.TB, page string) (elements map[string]int, texts string) {
	t.Helper()
	elements = map[string]int{}
	var all strings.Builder
	d := xml.NewDecoder(strings.NewReader(page))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return elements, all.String()
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %s\n%s", err, page)
		}
		switch token := token.(type) {
		case xml.StartElement:
			elements[token.Name.Local]++
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "src" || a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#") {
					t.Fatalf("the page has the attribute %s=%q", a.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			all.Write(token)
		}
	}
}

// elsewhere matches what would make a browser fetch something.
var elsewhere = regexp.MustCompile(`(?i)<(script|link|img|iframe|object|embed|base|form|image|foreignObject)\b|@import|@font-face|url\((?:[^#)])|https?:|=["']//`)

// MAYFLY_UPDATE_GOLDEN rewrites the page.
func TestE84_Page(t *testing.T) {
	got := written(t, small(t))
	file := filepath.Join("testdata", "small.html")
	if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" {
		filetest.Write(t, file, got)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Error(d)
	}
}

func TestPagesAreSelfContained(t *testing.T) {
	running := newTape(t)
	running.phase(0, event.Started, event.OpApplying)
	running.event(ms(1), event.Started, event.OpOpen, login)
	interrupted := small(t)
	interrupted.phase(ms(66_150), event.Started, event.OpInterrupt)
	for name, p := range map[string]*tape{
		"nothing": newTape(t), "running": running, "small": small(t), "interrupted": interrupted, "one": many(t, 1), "dense": many(t, 70),
	} {
		t.Run(name, func(t *testing.T) {
			page := written(t, p)
			parse(t, page)
			if found := elsewhere.FindString(page); found != "" {
				t.Errorf("page: got %q, want nothing from elsewhere", found)
			}
		})
	}
}

// Everything that the chart has is in the tables, so that reading it needs no eyes.
func TestTablesSayWhatTheChartShows(t *testing.T) {
	for _, n := range []int{3, 70} {
		page := written(t, many(t, n))
		elements, texts := parse(t, page[strings.Index(page, `<section class="tables"`):strings.Index(page, "</main>")])
		const tables, headLines = 3, 3
		if want := headLines + n + 3*n + n; elements["tr"] != want || elements["table"] != tables {
			t.Errorf("%d instances: got %d lines in %d tables, want %d in %d", n, elements["tr"], elements["table"], want, tables)
		}
		for _, want := range []string{`module.m1.ephemeral.vault_secret.db["host-001"]`, "module.m1.acme_user.app[1]", "used: create", "closed"} {
			if !strings.Contains(texts, want) {
				t.Errorf("%q is missing", want)
			}
		}
	}
}

// TestPutOffIsNoTrouble has a provider put off an opening and a read, which the page does not call failures.
func TestPutOffIsNoTrouble(t *testing.T) {
	p := newTape(t)
	for _, op := range []struct {
		op   event.Op
		name string
	}{{event.OpOpen, login}, {event.OpRead, "data.a.b"}} {
		p.event(ms(1), event.Started, op.op, op.name)
		p.event(ms(2), event.PutOff, op.op, op.name)
	}
	page := written(t, p)
	for _, want := range []string{"open, deferred by the provider", "read, deferred by the provider", "<td>deferred</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("page: got no %q, want it in\n%s", want, page)
		}
	}
	if strings.Contains(page, ` bad" `) || strings.Contains(page, `<tr class="bad"`) {
		t.Errorf("page: got a failure, want none\n%s", page)
	}
}

func TestNothingWasOpened(t *testing.T) {
	p := newTape(t)
	p.does(0, ms(5), event.OpCreate, "a.a")
	if _, texts := parse(t, written(t, p)); !strings.Contains(texts, "No ephemeral instance was opened in this run.") {
		t.Error(texts)
	}
}

func TestTextIsTame(t *testing.T) {
	for in, want := range map[string]string{
		`<script>alert("x")</script>`: "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;",
		"' & Grüße":                   "&#39; &amp; Grüße",
		"a\x00b\x1b[31m\n":            `a\u{0}b\u{1b}[31m\u{a}`,
		"\u202eabc\u2066":             `\u{202e}abc\u{2066}`,
		"\xff\ufffe":                  "\ufffd" + `\u{fffe}`,
	} {
		p := &page{}
		p.Text(in)
		if got := p.String(); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// FuzzNames holds the page against names of any kind: it stays well-formed, and has the elements of a page
// with harmless names.
func FuzzNames(f *testing.F) {
	f.Add("k", "u")
	f.Add(`"/><script>alert(1)</script>`, `]]>&lt;<!--`)
	f.Add("\x00\xff\u202e\u2028", "</title></svg><img src=x onerror=y>")
	draw := func(t *testing.T, key, user string) map[string]int {
		p := newTape(t)
		o := p.object("ephemeral.a.b")
		o.Key = addr.StringKey(key)
		for i, kind := range []event.Kind{event.Started, event.Completed} {
			p.r.Event(event.Event{Time: zero.Add(ms(i * 100)), Kind: kind, Op: event.OpOpen, Object: o, Provisioner: user})
		}
		for i, kind := range []event.Kind{event.Started, event.Completed} {
			p.r.Detail(event.Event{Time: zero.Add(ms(110 + i*2000)), Kind: kind, Op: event.OpUse, Object: o, User: user, UserOp: event.OpProvision})
		}
		o.Resource.Mode = addr.Managed
		p.r.Event(event.Event{Time: zero.Add(time.Second), Kind: event.Failed, Op: event.OpProvision, Object: o, Provisioner: user})
		elements, _ := parse(t, written(t, p))
		return elements
	}
	f.Fuzz(func(t *testing.T, key, user string) {
		want, got := draw(t, "k", "u"), draw(t, key, user)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the names change the page (-want +got):\n%s", diff)
		}
	})
}

// The size of a page is linear in what was done: counted, since times say little.
func TestPageIsLinear(t *testing.T) {
	a, b := len(written(t, many(t, 500))), len(written(t, many(t, 2000)))
	if b > 5*a {
		t.Errorf("%d bytes for 500 instances, %d for 2000", a, b)
	}
}

func BenchmarkOperations(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
	}{{"1000", 500}, {"10000", 5000}} {
		p := many(b, c.n) // as many instances, and as many operations that use them
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				if err := p.r.Write(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestRounds marks where each round of a run begins, also where there is no room for more than its number.
func TestRounds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		takes []int // milliseconds of each phase
		want  []string
	}{
		{"long", []int{900, 500, 900, 500}, []string{"Round 1: planning", "Applying", "Round 2: planning", "Applying"}},
		{"short applies", []int{260, 50, 260, 430}, []string{"Round 1: planning", "Round 2: planning", "Applying"}},
		{"short plans", []int{60, 70, 60, 810}, []string{"Round 1", "Round 2"}},
		{"short rounds", []int{20, 20, 20, 940}, []string{"Round 2"}},
		{"one plan", []int{500, 500}, []string{"Planning", "Applying"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tape, at := newTape(t), 0
			for i, takes := range tt.takes {
				op := event.OpPlanning
				if i%2 == 1 {
					op = event.OpApplying
				}
				tape.phase(ms(at), event.Started, op)
				at += takes
				tape.phase(ms(at), event.Completed, op)
			}
			var got []string
			for _, part := range strings.Split(written(t, tape), `<text class="phase"`)[1:] {
				_, text, _ := strings.Cut(part, ">")
				name, _, _ := strings.Cut(text, "<")
				got = append(got, name)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("names on the axis: got %q, want %q", got, tt.want)
			}
		})
	}
}
