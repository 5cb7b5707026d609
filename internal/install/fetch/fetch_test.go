package fetch

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/install/web"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// Archives with the file main.tf, of the kinds that the standard library cannot write.
const (
	tarXz  = "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4Cf/AHpdADaYSXKFAtLo4UzUOk3Exai1bNFFJQI6mBGrCHuJhaVGm6Vg46KKYsiIOgV5+6yD6o4pQDU0L/B/K/pGfiOaYL9F1fqVeJz/dPPT41uVkKrkew7NgXlv4pLv/vVDGc10l6urtUwCx4VmckTvV1ggC5f6d516WbPOXB8AAAAAXuEhcsHwe0cAAZYBgFAAALiQ77SxxGf7AgAAAAAEWVo="
	tarBz2 = "QlpoOTFBWSZTWSbrdU8AAHl7hMqwAEBQAW2CACBjJ99KAACACCAAdQ0kNqMgGgGgyaZBlCNGmgaAAaDJF+dSVEEBkoAJDnTi1rFitBJASAiCFPpVjrDBsVORYRE1ZA+Ep1ZkKWpOcOiyKHDp+wgJGa3qMIlBMIRW7hAoJIH4u5IpwoSBN1uqeA=="
)

func (k *kit) archives() {
	decode := func(s string) []byte {
		b, err := base64.StdEncoding.DecodeString(s)
		k.must(err)
		return b
	}
	k.files["/a.zip"] = zipOf(map[string]string{"main.tf": "", "sub/x.tf": ""})
	k.files["/a.tar.gz"] = tgzOf(&tar.Header{Name: "top-1/main.tf", Size: 3})
	k.files["/a.tar.xz"], k.files["/a.tar.bz2"] = decode(tarXz), decode(tarBz2)
	k.files["/plain"] = k.files["/a.zip"]
}

func TestArchives(t *testing.T) {
	k := newKit(t)
	k.archives()
	url := k.server.URL
	k.gets(url+"/a.zip", "main.tf sub/x.tf")
	k.gets(url+"/a.tar.gz", "top-1/main.tf")
	k.gets(url+"/a.tar.xz", "main.tf")
	k.gets(url+"/a.tar.bz2", "main.tf")
	k.gets(url+"/plain?archive=zip", "main.tf sub/x.tf")
	k.fails(url+"/none.zip", "404 Not Found", "/none.zip")
	k.fails(url+"/plain?archive=tar.gz", "gzip")
}

func TestChecksum(t *testing.T) {
	k := newKit(t)
	k.archives()
	k.files["/fixed.zip"] = zipOf(map[string]string{"main.tf": "x"})
	sum := fmt.Sprintf("%x", sha(k.files["/fixed.zip"]))
	k.gets(k.server.URL+"/fixed.zip?checksum=sha256:"+sum, "main.tf")
	k.files["/fixed.zip"] = zipOf(map[string]string{"main.tf": "y"})
	k.fails(k.server.URL+"/fixed.zip?checksum=sha256:"+sum, "the address requires "+sum, "changed on the way")
	k.files["/sums"] = fmt.Appendf(nil, "%x  fixed.zip\n", sha(k.files["/fixed.zip"]))
	k.gets(k.server.URL+"/fixed.zip?checksum=file:"+k.server.URL+"/sums", "main.tf")
	k.files["/sums"] = fmt.Appendf(nil, "%s  fixed.zip\n", sum)
	k.fails(k.server.URL+"/fixed.zip?checksum=file:"+k.server.URL+"/sums", "changed on the way")
	k.fails(k.server.URL+"/fixed.zip?checksum=file:/etc/passwd", "checksum")
	k.fails(k.server.URL+"/fixed.zip?checksum=crc:1", "checksum")
}

func TestServersNameOtherAddresses(t *testing.T) {
	k := newKit(t)
	k.archives()
	url, _ := k.repository()
	git := k.handle
	header := ""
	k.handle = func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/header":
			w.Header().Set("X-Terraform-Get", header)
		case "/meta":
			fmt.Fprintf(w, `<html><head><meta name="terraform-get" content="%s/a.zip//sub"></head></html>`, k.server.URL)
		case "/circle":
			w.Header().Set("X-Terraform-Get", k.server.URL+"/circle")
		case "/nothing":
			fmt.Fprint(w, "<html><body>Welcome</body></html>")
		default:
			return git(w, r)
		}
		return true
	}
	header = k.server.URL + "/a.zip"
	k.gets(k.server.URL+"/header", "main.tf sub/x.tf")
	k.gets(k.server.URL+"/meta", "x.tf")
	header = "git::" + url + "?ref=v1"
	k.gets(k.server.URL+"/header", "main.tf sub/link.tf -> ../main.tf sub/s.tf")
	header = "git::" + url + "//sub?ref=v1"
	k.fails(k.server.URL+"/header", "points outside of the package") // the link in it leads out of that directory
	header = k.server.URL + "/a.zip//s*"
	k.gets(k.server.URL+"/header", "x.tf")
	header = k.server.URL + "/a.zip//none"
	k.fails(k.server.URL+"/header", `"none"`)
	for _, header = range []string{
		"oci://example.com/x?tag=v1", "https://example.com/x.zip//../y", "file:///etc", "/etc", "hg::https://example.com/x", "git::fd::17", "git::ext::true", "git::file:///etc", "git::/etc",
	} {
		k.fails(k.server.URL + "/header")
	}
	k.fails(k.server.URL+"/circle", "without end")
	k.fails(k.server.URL+"/nothing", "X-Terraform-Get", "?archive=zip")
}

func TestHostileArchives(t *testing.T) {
	k := newKit(t)
	k.limits = Limits{Download: 1 << 20, Files: 5, Unpacked: 1 << 20}
	url := k.server.URL
	k.files["/up.zip"] = zipOf(map[string]string{"../evil.tf": ""})
	k.files["/up.tar.gz"] = tgzOf(&tar.Header{Name: "a/../../evil.tf"})
	k.files["/many.zip"] = zipOf(map[string]string{"1": "", "2": "", "3": "", "4": "", "5": "", "6": ""})
	k.files["/many.tar.gz"] = tgzOf(entries(6)...)
	k.files["/bomb.tar.gz"] = tgzOf(&tar.Header{Name: "a", Size: 10 << 20})
	k.files["/big.zip"] = make([]byte, 2<<20)
	k.fails(url+"/up.zip", "points outside of the package")
	k.fails(url+"/up.tar.gz", "points outside of the package")
	k.fails(url+"/many.zip", "larger than the limit", "too many files")
	k.fails(url+"/bomb.tar.gz", "larger than the limit")
	k.fails(url+"/many.tar.gz", "larger than the limit", "more than 5 files")
	k.fails(url+"/big.zip", "limit of 1048576 bytes")
	// What stands for a link in an archive does not become one, so that nothing can be written through it.
	k.files["/link.tar.gz"] = tgzOf(&tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, &tar.Header{Name: "l/passwd", Size: 1})
	k.fails(url + "/link.tar.gz")
}

func entries(n int) (out []*tar.Header) {
	for i := range n {
		out = append(out, &tar.Header{Name: strconv.Itoa(i)})
	}
	return out
}

// TestLargeArchivesAreRefusedUnwritten has archives that are beyond a limit: nothing of them may be written,
// since writing takes longer than all the rest.
func TestLargeArchivesAreRefusedUnwritten(t *testing.T) {
	c := New(web.New(web.Options{}), nil, Limits{Files: 5, Unpacked: 1 << 20})
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"many.zip": zipOf(map[string]string{"1": "", "2": "", "3": "", "4": "", "5": "", "6": ""}), "many.tgz": tgzOf(entries(6)...),
		"many.tar": plain(t, tgzOf(entries(6)...)), "large.tar.gz": tgzOf(&tar.Header{Name: "a"}, &tar.Header{Name: "b", Size: 2 << 20}),
	} {
		filetest.Write(t, filepath.Join(dir, name), string(content))
		_, format, _ := strings.Cut(name, ".")
		out := filepath.Join(dir, "out-"+name)
		if err := c.unpack(format, filepath.Join(dir, name), out); err == nil {
			t.Errorf("%s was unpacked", name)
		}
		if written, _ := os.ReadDir(out); len(written) != 0 {
			t.Errorf("%s: %d entries were written, want 0", name, len(written))
		}
	}
	filetest.Write(t, filepath.Join(dir, "five.tgz"), string(tgzOf(entries(4)...)))
	if err := c.unpack("tgz", filepath.Join(dir, "five.tgz"), filepath.Join(dir, "out")); err != nil {
		t.Error(err)
	}
}

// plain returns the content of a compressed file.
func plain(t *testing.T, compressed []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestModesOfArchives(t *testing.T) {
	k := newKit(t)
	k.files["/modes.tar.gz"] = tgzOf(&tar.Header{Name: "open", Mode: 0o666}, &tar.Header{Name: "tool", Mode: 0o4777})
	dir := filepath.Join(t.TempDir(), "pkg")
	if err := New(web.New(k.opts), nil, k.limits).Fetch(t.Context(), k.server.URL+"/modes.tar.gz", dir, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".", "open", "tool"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode(); mode.Perm()&0o022 != 0 || mode&fs.ModeSetuid != 0 {
			t.Errorf("mode of %s: got %s, want one that others cannot write, without set-user-ID", name, mode)
		}
	}
}

func TestGitTransports(t *testing.T) {
	k := newKit(t)
	for _, address := range []string{"git::fd::17", "git::fd::17/main", "git::ext::true", "git::gcrypt://example.com/x"} {
		k.fails(address, "git repositories are fetched over https")
	}
}

func TestCredentialsStayWithTheirServer(t *testing.T) {
	other := newKit(t)
	other.archives()
	k := newKit(t)
	k.handle = func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/redirect.zip":
			http.Redirect(w, r, other.server.URL+"/a.zip", http.StatusFound)
		case "/get":
			w.Header().Set("X-Terraform-Get", other.server.URL+"/a.zip")
		}
		return true
	}
	for _, path := range []string{"/redirect.zip", "/get"} {
		k.gets(strings.Replace(k.server.URL, "https://", "https://ann:Hunter2Hunter2@", 1)+path, "main.tf sub/x.tf")
	}
	for _, r := range k.seen {
		if user, password, ok := r.BasicAuth(); !ok || user != "ann" || password != "Hunter2Hunter2" {
			t.Errorf("request of %s: got the user %q, want the credentials", r.URL.Path, user)
		}
	}
	for _, r := range other.seen {
		if a := r.Header.Get("Authorization"); a != "" || strings.Contains(r.Referer(), "Hunter2") {
			t.Errorf("headers for the other server: got %q, %q, want no credentials", a, r.Referer())
		}
	}
	k.handle = nil
	k.fails(strings.Replace(k.server.URL, "https://", "https://ann:Hunter2Hunter2@", 1)+"/none.zip", "404", "!Hunter2", "!ann")
	k.fails("https://ann:Hunter2Hunter2@127.0.0.1:1/none.zip", "refused", "!Hunter2")
}

func TestNetrc(t *testing.T) {
	k := newKit(t)
	k.archives()
	k.netrc("machine " + k.host() + "\nlogin ann\npassword Hunter2Hunter2\n")
	k.gets(k.server.URL+"/a.zip", "main.tf sub/x.tf")
	if user, _, _ := k.seen[0].BasicAuth(); user != "ann" {
		t.Errorf("the user's netrc was not used: got %q, want %q", user, "ann")
	}
	k.netrc("machine " + k.host() + "\nnonsense Hunter2Hunter2\n")
	k.fails(k.server.URL+"/a.zip", "netrc file is malformed", "!Hunter2")
}

func TestNoStepDownFromEncryption(t *testing.T) {
	k := newKit(t)
	k.handle = func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, "http://"+k.host()+"/a.zip", http.StatusFound)
		return true
	}
	k.fails(k.server.URL+"/a.zip", "not encrypted")
}

func TestServersThatFail(t *testing.T) {
	k := newKit(t)
	k.archives()
	k.opts.Stall = time.Second
	failures := 0
	var fail func(w http.ResponseWriter, r *http.Request)
	k.handle = func(w http.ResponseWriter, r *http.Request) bool {
		if failures--; failures < 0 {
			return false
		}
		fail(w, r)
		return true
	}
	for name, f := range map[string]func(w http.ResponseWriter, r *http.Request){
		"busy": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"breaks off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(k.files["/a.zip"])))
			_, _ = w.Write(k.files["/a.zip"][:20])
			panic(http.ErrAbortHandler)
		},
		"stands still": func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(k.files["/a.zip"][:20])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			fail, failures = f, 2
			k := *k
			k.T = t
			k.gets(k.server.URL+"/a.zip", "main.tf sub/x.tf")
		})
	}
	fail, failures = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, 100
	k.fails(k.server.URL+"/a.zip", "503")
	if failures != 97 {
		t.Errorf("got %d attempts, want 3", 100-failures)
	}
}

func TestGit(t *testing.T) {
	k := newKit(t)
	url, commit := k.repository()
	const one = "main.tf sub/link.tf -> ../main.tf sub/s.tf"
	k.gets("git::"+url, "main.tf new.tf sub/link.tf -> ../main.tf sub/s.tf")
	k.gets("git::"+url+"?ref=v1", one)
	k.gets("git::"+url+"?ref="+commit, one)
	k.gets("git::"+url+"?ref=dev&depth=1", "dev.tf "+one)
	k.fails("git::"+url+"?ref=none", `no branch, tag or commit "none"`)
	k.fails("git::"+url+"?ref=none&depth=1", `no branch, tag or commit "none"`)
	k.fails("git::"+url+"?ref=--upload-pack=touch%20/tmp/x", "no branch, tag or commit")
	k.fails("git::"+strings.Replace(url, "repo.git", "none.git", 1), "no such repository")
	k.fails("git::"+url+"?ref=out", "the link out in it points outside of the package", "../../etc")
	k.gets("git::"+url+"?depth=1", "main.tf new.tf sub/link.tf -> ../main.tf sub/s.tf")
	k.fails("git::ssh://git@127.0.0.1:1/x.git?sshkey=QUJDREVGRw==", "git reported", "!QUJDREVGRw")
	k.fails("git::ssh://git@127.0.0.1:1/x.git?sshkey=Hunter2-Hunter2", "not valid base64", "!Hunter2")
}

func TestGitCredentials(t *testing.T) {
	k := newKit(t)
	k.handle = func(w http.ResponseWriter, r *http.Request) bool {
		if user, password, _ := r.BasicAuth(); user == "ann" && password == "Right1Right1" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	url, _ := k.repository()
	with := func(user string) string { return "git::" + strings.Replace(url, "https://", "https://"+user+"@", 1) }
	k.gets(with("ann:Right1Right1")+"?ref=v1", "main.tf sub/link.tf -> ../main.tf sub/s.tf")
	k.fails(with("ann:Hunter2Hunter2"), "denied access", "!Hunter2")
	k.fails(with("ghp_Token1234567"), "denied access", "!ghp_Token1234567")
	k.fails("git::"+url, "denied access")
}

func TestGitMissing(t *testing.T) {
	k := newKit(t)
	t.Setenv("PATH", t.TempDir())
	k.fails("git::https://example.com/x.git", "needs the program git", "Install git")
}

func TestDirectory(t *testing.T) {
	k := newKit(t)
	dir := t.TempDir()
	k.must(os.WriteFile(filepath.Join(dir, "main.tf"), nil, 0o644))
	src, err := Parse(dir)
	k.must(err)
	k.gets(src.Package, ". -> "+dir)
	k.fails(src.Package+"/none", "no such file")
	k.must(os.WriteFile(filepath.Join(dir, "a.zip"), zipOf(map[string]string{"z.tf": ""}), 0o644))
	k.gets(src.Package+"/a.zip", "z.tf")
}
