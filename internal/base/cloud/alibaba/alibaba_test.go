package alibaba

import (
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/testing/alibabaserver"
)

// to sends requests for any server to one.
type to struct{ server *alibabaserver.Server }

func (t to) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := url.Parse(t.server.URL)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Host = r.URL.Host
	r.URL.Scheme, r.URL.Host = u.Scheme, u.Host
	return http.DefaultTransport.RoundTrip(r)
}

// TestRows encodes rows to the bytes that Alibaba's own client sends, and decodes them.
func TestRows(t *testing.T) {
	const key = "u\x00\x00\x00\x01\x03\x04\x06\x00\x00\x00LockID\x05\x19\x00\x00\x00\x03\x14\x00\x00\x00bucket/p/q/k.tfstate\n\xdc"
	const put = "u\x00\x00\x00\x01\x03\x04\x06\x00\x00\x00LockID\x05\x1d\x00\x00\x00\x03\x18\x00\x00\x00bucket/p/q/k.tfstate-md5\nF" +
		"\x02\x03\x04\x06\x00\x00\x00Digest\x05%\x00\x00\x00\x03 \x00\x00\x00df0fc380da6934b4292ecfa0e1c638cd\nM\tI"
	columns := map[string]string{"Digest": "df0fc380da6934b4292ecfa0e1c638cd"}
	for got, want := range map[string]string{
		string(keyRow("LockID", "bucket/p/q/k.tfstate", false)):       key + "\tF",
		string(keyRow("LockID", "bucket/p/q/k.tfstate", true)):        key + "\b\tA",
		string(putRow("LockID", "bucket/p/q/k.tfstate-md5", columns)): put,
	} {
		if got != want {
			t.Errorf("%q\nwant %q", got, want)
		}
	}
	columns["LockID"] = "bucket/p/q/k.tfstate-md5"
	if got, err := readRow([]byte(put)); err != nil || !maps.Equal(got, columns) {
		t.Errorf("readRow: got %v, %v, want %v", got, err, columns)
	}
	stamped := strings.Replace(put, "\nM\t", "\x07\x01\x02\x03\x04\x05\x06\x07\x08\nM\t", 1)
	if got, err := readRow([]byte(stamped)); err != nil || !maps.Equal(got, columns) {
		t.Errorf("readRow with a time: got %v, %v, want %v", got, err, columns)
	}
	for n := range len(put) - 2 {
		if got, err := readRow([]byte(put[:n])); err == nil && maps.Equal(got, columns) {
			t.Errorf("%d bytes read as %v", n, got)
		}
	}
}

// TestSources gets keys from each source, and uses them.
func TestSources(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	const content = `{"profiles": [
		{"name": "keys", "mode": "StsToken", "access_key_id": "STS.id", "access_key_secret": "secret", "sts_token": "hunter2", "region_id": "cn-beijing"},
		{"name": "role", "mode": "RamRoleArn", "access_key_id": "id", "access_key_secret": "secret", "ram_role_arn": "acs:1", "ram_session_name": "s"},
		{"name": "machine", "mode": "EcsRamRole", "ram_role_name": "r"}, {"name": "other", "mode": "External"}]}`
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	server := alibabaserver.Start(t)
	client := cloud.Client(to{server})
	for _, name := range []string{"keys", "role", "machine"} {
		server.Seen = nil
		source, region, err := Profile(file, name, client)
		if err != nil || (region == "cn-beijing") != (name == "keys") {
			t.Fatal(region, err)
		}
		a, err := New(t.Context(), source, client)
		if err != nil {
			t.Fatal(err)
		}
		b, err := a.Bucket("oss-cn-beijing.aliyuncs.com", alibabaserver.Bucket)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Put(t.Context(), "a b", []byte("x"), nil); err != nil {
			t.Error(err)
		}
		last := server.Seen[len(server.Seen)-1]
		if last.Host != "bucket.oss-cn-beijing.aliyuncs.com" || !strings.HasPrefix(last.Header.Get("Authorization"), "OSS STS.id:") || last.Header.Get("X-Oss-Security-Token") != "hunter2" {
			t.Errorf("%s: got a request to %s with %v, want it to the bucket with the credentials", name, last.Host, last.Header)
		}
	}
	for name, want := range map[string]string{"other": "has no keys", "nope": `no profile "nope"`} {
		if _, _, err := Profile(file, name, client); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSignature signs the example of OSS's documentation.
func TestSignature(t *testing.T) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://oss-example.oss-cn-hangzhou.aliyuncs.com/nelson", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Md5": "ODBGOERFMDMzQTczRUY3NUE3NzA5QzdFNUYzMDQxNEM=", "Content-Type": "text/html", "Date": "Thu, 17 Nov 2005 18:49:58 GMT",
		"X-Oss-Meta-Author": "foo@bar.com", "X-Oss-Magic": "abracadabra",
	} {
		req.Header.Set(name, value)
	}
	if got := mac("OtxrzxIsfpFjA7SwPzILwy8Bw21TLhquhboDYROV", signed(req, "/oss-example/nelson")); got != "26NBxoKdsyly4EDv6inkoDft/yA=" {
		t.Errorf("signature: got %s, want 26NBxoKdsyly4EDv6inkoDft/yA=", got)
	}
}
