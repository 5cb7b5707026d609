package refusals

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/alibabaserver"
	"github.com/mayfly-iac/mayfly/internal/testing/azureserver"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/gcsserver"
	"github.com/mayfly-iac/mayfly/internal/testing/kubeserver"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/s3server"
	"github.com/mayfly-iac/mayfly/internal/testing/tencentserver"
	"github.com/mayfly-iac/mayfly/internal/testing/tfeserver"
	"github.com/mayfly-iac/mayfly/tests/internal/services"
)

var mayfly string

func TestMain(m *testing.M) {
	program.Main(m, func(dir string) error {
		built, err := program.Build(dir, "cmd/mayfly")
		mayfly = built["cmd/mayfly"]
		return err
	})
}

// answer is what a service answers with. If it has no status, code is the reason why the service has no such
// answer.
type answer struct {
	status int
	code   string
}

// kind is what is particular to a kind of service.
type kind struct {
	refuse func(w http.ResponseWriter, status int, code string)
	// elsewhere are pairs of texts in the block: what to replace, and by what, so that it names a place that
	// does not exist. If there are none, nowhere is the answer.
	elsewhere                              []string
	nowhere, denied, expired, region, skew answer
}

// refuseAlibaba answers as Tablestore does, which keeps the lock and is asked first.
func refuseAlibaba(w http.ResponseWriter, status int, code string) {
	const message = "In words."
	w.WriteHeader(status)
	fmt.Fprintf(w, "\x0a%c%s\x12%c%s", len(code), code, len(message), message)
}

// plain answers with a status and a text.
func plain(w http.ResponseWriter, status int, code string) { http.Error(w, code, status) }

const (
	noRegion = "the service has no regions"
	noTime   = "requests have no time"
)

var kinds = map[string]kind{
	"azurerm": {
		refuse: azureserver.Refuse, elsewhere: []string{`"` + azureserver.Container + `"`, `"nope"`},
		denied:  answer{http.StatusForbidden, "AuthorizationPermissionMismatch"},
		expired: answer{http.StatusForbidden, "AuthenticationFailed"},
		region:  answer{0, "the name of an account says where it is"},
		skew:    answer{http.StatusForbidden, "AuthenticationFailed"},
	},
	"consul": {
		refuse:  plain,
		nowhere: answer{http.StatusInternalServerError, "No path to datacenter"},
		denied:  answer{http.StatusForbidden, "Permission denied: token lacks permission 'key:write'"},
		expired: answer{http.StatusForbidden, "ACL not found"},
		region:  answer{http.StatusInternalServerError, "No path to datacenter"},
		skew:    answer{0, noTime},
	},
	"cos": {
		refuse: tencentserver.Refuse, elsewhere: []string{tencentserver.Bucket, "nope-1250000000"},
		denied:  answer{http.StatusForbidden, "AccessDenied"},
		expired: answer{http.StatusForbidden, "ExpiredToken"},
		region:  answer{http.StatusNotFound, "NoSuchBucket"},
		skew:    answer{http.StatusForbidden, "RequestTimeTooSkewed"},
	},
	"gcs": {
		refuse: gcsserver.Refuse, elsewhere: []string{`"` + gcsserver.Bucket + `"`, `"nope"`},
		denied:  answer{http.StatusForbidden, "x does not have storage.objects.get access"},
		expired: answer{http.StatusUnauthorized, "Invalid Credentials"},
		region:  answer{0, noRegion},
		skew:    answer{0, noTime},
	},
	"http": {
		refuse:  plain,
		nowhere: answer{http.StatusMethodNotAllowed, "no"},
		denied:  answer{http.StatusForbidden, "no"},
		expired: answer{http.StatusUnauthorized, "no"},
		region:  answer{0, noRegion},
		skew:    answer{0, noTime},
	},
	"kubernetes": {
		refuse: func(w http.ResponseWriter, status int, code string) {
			kubeserver.Refuse(w, status, code, "no", "tfstate-default-app")
		},
		nowhere: answer{http.StatusForbidden, "Forbidden"},
		denied:  answer{http.StatusForbidden, "Forbidden"},
		expired: answer{http.StatusUnauthorized, "Unauthorized"},
		region:  answer{0, noRegion},
		skew:    answer{0, noTime},
	},
	"oss": {
		refuse: refuseAlibaba, elsewhere: []string{`"` + alibabaserver.Bucket + `"`, `"nope"`},
		denied:  answer{http.StatusForbidden, "OTSNoPermissionAccess"},
		expired: answer{http.StatusForbidden, "OTSAuthFailed"},
		region:  answer{http.StatusNotFound, "OTSObjectNotExist"},
		skew:    answer{http.StatusForbidden, "OTSAuthFailed"},
	},
	"remote": {
		refuse:    func(w http.ResponseWriter, status int, code string) { tfeserver.Refuse(w, status, code, "") },
		elsewhere: []string{`"` + tfeserver.Organization + `"`, `"nope"`},
		denied:    answer{http.StatusForbidden, "forbidden"},
		expired:   answer{http.StatusUnauthorized, "unauthorized"},
		region:    answer{0, noRegion},
		skew:      answer{0, noTime},
	},
	"s3": {
		refuse: s3server.Refuse, elsewhere: []string{`"` + s3server.Bucket + `"`, `"nope"`},
		denied:  answer{http.StatusForbidden, "AccessDenied"},
		expired: answer{http.StatusBadRequest, "ExpiredToken"},
		region:  answer{http.StatusMovedPermanently, "PermanentRedirect"},
		skew:    answer{http.StatusForbidden, "RequestTimeTooSkewed"},
	},
}

const resource = `
resource "terraform_data" "a" {
  input = "1"
}
`

// page is what a proxy may answer.
const page = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>hunter7</body></html>\n"

// TestRefusals goes through all cases for each kind of service.
func TestRefusals(t *testing.T) {
	for _, k := range services.Kinds {
		t.Run(k.Name, func(t *testing.T) {
			service := k.Start(t)
			s := &site{T: t, service: service, dir: t.TempDir(), home: t.TempDir()}
			s.block(service.Block("app"))
			s.must("init")
			s.must("apply", "-auto-approve")
			if service.Front == nil {
				s.database()
			} else {
				s.requests(kinds[k.Name])
			}
			s.deadLock()
			s.compare(filepath.Join("testdata", k.Name+".txt"))
		})
	}
}

// requests lets requests over HTTP fail.
func (s *site) requests(k kind) {
	s.Helper()
	if k.elsewhere == nil {
		s.answered("a place that does not exist", k, k.nowhere)
	} else {
		s.blockInstead("a place that does not exist", k.elsewhere...)
	}
	s.answered("no rights", k, k.denied)
	s.answered("expired credentials", k, k.expired)
	s.answered("another region", k, k.region)
	s.answered("a clock that is wrong", k, k.skew)
	s.through("a page from a proxy", func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) })
	})
	s.through("a proxy that asks for a password", func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusProxyAuthRequired)
			_, _ = io.WriteString(w, page)
		})
	})
	s.through("a redirect", func(http.Handler) http.Handler {
		return http.RedirectHandler("http://127.0.0.1:9/hunter7", http.StatusFound)
	})
	s.through("a state that is none", func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			recorder := httptest.NewRecorder()
			server.ServeHTTP(recorder, r)
			for name, values := range recorder.Header() {
				if !garbled[name] {
					w.Header()[name] = values
				}
			}
			w.WriteHeader(recorder.Code)
			_, _ = w.Write(garble(recorder.Body.Bytes()))
		})
	})
}

// garbled are the headers about a content, which are wrong when it is another.
var garbled = map[string]bool{"Content-Length": true, "X-Goog-Hash": true, "Content-Md5": true, "X-Cos-Hash-Crc64ecma": true}

// encoded are the texts in which services may have states within their own documents.
var encoded = regexp.MustCompile(`"[A-Za-z0-9+/=]{100,}"`)

// garble replaces a state in an answer by something else.
func garble(body []byte) []byte {
	const other = "This is not the state."
	if bytes.Contains(body, []byte(`"lineage"`)) {
		return []byte(other)
	}
	return encoded.ReplaceAllFunc(body, func(text []byte) []byte {
		content, err := base64.StdEncoding.DecodeString(strings.Trim(string(text), `"`))
		if err != nil {
			return text
		}
		if z, err := gzip.NewReader(bytes.NewReader(content)); err == nil {
			content, _ = io.ReadAll(z) // what is there is enough
		}
		if !bytes.Contains(content, []byte(`"lineage"`)) {
			return text
		}
		return []byte(`"` + base64.StdEncoding.EncodeToString([]byte(other)) + `"`)
	})
}

// site is a working directory, and the record of what was printed there.
type site struct {
	*testing.T
	service *services.Service
	dir     string
	home    string // for what the program keeps for its user
	own     string // the block
	record  strings.Builder
}

func (s *site) block(text string) {
	s.Helper()
	s.own = text
	filetest.Write(s, filepath.Join(s.dir, "main.tf"), text+resource)
}

func (s *site) run(args ...string) (string, int) {
	s.Helper()
	cmd := exec.Command(mayfly, append(args, "-no-color")...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "TF_IN_AUTOMATION=1", "XDG_STATE_HOME="+s.home, "XDG_DATA_HOME="+s.home, "XDG_CONFIG_HOME="+s.home, "XDG_CACHE_HOME="+s.home)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		s.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (s *site) must(args ...string) {
	s.Helper()
	if out, code := s.run(args...); code != 0 {
		s.Fatalf("mayfly %s: got exit status %d, want 0:\n%s", strings.Join(args, " "), code, out)
	}
}

// refused records what an apply prints that must fail, change nothing and show no secret.
func (s *site) refused(name string) {
	s.Helper()
	before := s.service.Contents()
	out, code := s.run("apply", "-auto-approve", "-input=false")
	if code != 1 {
		s.Errorf("%s: got exit status %d, want 1:\n%s", name, code, out)
	}
	for _, text := range []string{"hunter", "panic", "goroutine"} {
		if strings.Contains(out, text) {
			s.Errorf("%s: %q is in\n%s", name, text, out)
		}
	}
	if after := states(s.service.Contents()); !slices.Equal(states(before), after) {
		s.Errorf("%s: got %d stored states, some of them changed, want the %d of before", name, len(after), len(states(before)))
	}
	s.note(name, out)
}

// states returns the lines with parts of states in what a service has stored, in order.
func states(content []byte) []string {
	lines := strings.Split(string(content), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, `"lineage"`) })
	slices.Sort(lines)
	return lines
}

// note adds to the record. Lines that were wrapped are joined, since their width depends on what varies.
func (s *site) note(name, text string) {
	fmt.Fprintf(&s.record, "## %s\n\n%s\n\n", name, wrapped.ReplaceAllString(strings.TrimSpace(text), "$1 $2"))
}

var wrapped = regexp.MustCompile(`(\S)\n(\S)`)

// answered lets the service answer everything with an error of its own.
func (s *site) answered(name string, k kind, a answer) {
	s.Helper()
	if a.status == 0 {
		s.note(name, "(does not exist: "+a.code+")")
		return
	}
	s.through(name, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { k.refuse(w, a.status, a.code) })
	})
}

// through lets requests go another way during one run.
func (s *site) through(name string, wrap func(http.Handler) http.Handler) {
	s.Helper()
	s.service.Front.Wrap(wrap)
	s.refused(name)
	s.service.Front.Wrap(func(server http.Handler) http.Handler { return server })
}

// blockInstead runs with other texts in the block.
func (s *site) blockInstead(name string, pairs ...string) {
	s.Helper()
	was, dir := s.own, s.dir
	s.dir = s.TempDir() // where no other block was initialized
	s.block(strings.NewReplacer(pairs...).Replace(was))
	if s.own == was {
		s.Fatalf("%s: nothing was replaced in %s", name, was)
	}
	if out, code := s.run("init", "-input=false"); code != 0 {
		s.note(name, out)
	} else {
		s.refused(name)
	}
	s.own, s.dir = was, dir
}

// database lets the connection to PostgreSQL fail.
func (s *site) database() {
	s.Helper()
	const parts = `(conn_str = "postgres://)([^@/]*)@([^/]*)/([^?"]*)`
	m := regexp.MustCompile(parts).FindStringSubmatch(s.own)
	if m == nil {
		s.Fatal(s.own)
	}
	s.blockInstead("a place that does not exist", "/"+m[4], "/nope")
	s.blockInstead("no rights", m[2]+"@", "hunter@")
	s.blockInstead("a page from a proxy", m[3], s.web())
}

// web returns the address of a server that answers each connection with a page.
func (s *site) web() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1024)) // what is unread would reset the connection
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n"+page)
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

// deadLock ends a run so that it cannot release its lock.
func (s *site) deadLock() {
	s.Helper()
	filetest.Write(s, filepath.Join(s.dir, "kill.tf"), `resource "terraform_data" "k" {
  provisioner "local-exec" {
    command = "kill -9 $PPID"
  }
}
`)
	_, _ = s.run("apply", "-auto-approve")
	if err := os.Remove(filepath.Join(s.dir, "kill.tf")); err != nil {
		s.Fatal(err)
	}
	out, code := s.run("plan", "-input=false")
	if code == 0 { // where a plan takes no lock, applying it does
		out, code = s.run("apply", "-auto-approve", "-concise")
	}
	if code == 0 {
		out = "(the lock ended with its process)"
	}
	s.note("the lock of a process that was killed", out)
}

// volatile are the parts of messages that differ from run to run.
var volatile = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "HOST"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?( ?[+-]\d{4} UTC|Z| UTC)?( m=\S+)?`), "TIME"},
	{regexp.MustCompile(`\S+@\S+`), "WHO"},
	{regexp.MustCompile(`on \S+, in /\S*/journals/[0-9a-f]+`), "on MACHINE, in DIR"},
	{regexp.MustCompile(`(unexpected EOF|read tcp .*) \(tried \d+ times( in (\d+m)?\d+s)?\)`), "NETWORK ERROR (tried N times)"},
	{regexp.MustCompile(`/\S*/(TestRefusals|mayfly-refusals)\S*/`), "DIR/"},
	{regexp.MustCompile(`\n[A-Z][^\n]* is taking more than \d+s\.\.\.\n\n`), ""},
	{regexp.MustCompile(`tried \d+ times in (\d+m)?\d+s`), "tried N times"},
}

// compare compares the record with a file, which it writes instead if MAYFLY_UPDATE_GOLDEN is set.
func (s *site) compare(file string) {
	s.Helper()
	got := s.record.String()
	for _, v := range volatile {
		got = v.pattern.ReplaceAllString(got, v.text)
	}
	if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" {
		filetest.Write(s, file, got)
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.Fatal(err)
	}
	wanted, sections := strings.Split(string(want), "\n## "), strings.Split(got, "\n## ")
	for i := range max(len(wanted), len(sections)) {
		var w, g string
		if i < len(wanted) {
			w = wanted[i]
		}
		if i < len(sections) {
			g = sections[i]
		}
		if w != g {
			s.Errorf("got\n%s\nwant\n%s", cmp.Or(g, "nothing"), cmp.Or(w, "nothing"))
		}
	}
}
