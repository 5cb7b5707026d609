package fetch

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func sha(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

// TestS3 gets an archive and a prefix from a server that speaks as much of S3 as that takes.
func TestS3(t *testing.T) {
	k := newKit(t)
	k.files["/bucket/dir/m.zip"] = zipOf(map[string]string{"main.tf": ""})
	k.files["/bucket/tree/main.tf"], k.files["/bucket/tree/sub/x.tf"], k.files["/bucket/tree/sub/"], k.files["/bucket/trees/y.tf"] = nil, nil, nil, nil
	k.handle = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.Header.Get("Authorization"), "Credential=AKIDTEST/") {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>`)
			return true
		}
		if r.URL.Query().Get("list-type") != "2" {
			if _, ok := k.files[r.URL.Path]; !ok {
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprint(w, `<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>`)
				return true
			}
			return false
		}
		fmt.Fprint(w, `<ListBucketResult><IsTruncated>false</IsTruncated>`)
		for name := range k.files {
			if key := strings.TrimPrefix(name, "/bucket/"); strings.HasPrefix(key, r.URL.Query().Get("prefix")) {
				fmt.Fprintf(w, `<Contents><Key>%s</Key><Size>0</Size></Contents>`, key)
			}
		}
		fmt.Fprint(w, `</ListBucketResult>`)
		return true
	}
	const keys = "?region=eu-west-1&aws_access_key_id=AKIDTEST&aws_access_key_secret=Hunter2Hunter2"
	base := "s3::" + k.server.URL + "/bucket/"
	k.gets(base+"dir/m.zip"+keys, "main.tf")
	k.gets(base+"tree"+keys, "main.tf sub/x.tf")
	k.fails(base+"dir/none.zip"+keys, "NoSuchKey", "!Hunter2")
	k.fails(base+"dir/m.zip"+strings.Replace(keys, "AKIDTEST", "AKIDOTHER", 1), "AccessDenied", "!AKIDOTHER")
	k.limits.Download = 10
	k.fails(base+"dir/m.zip"+keys, "limit of 10 bytes")
}

// TestAddressesOfObjects reads what the forms of addresses of S3 say.
func TestAddressesOfObjects(t *testing.T) {
	for in, want := range map[string]object{
		"https://s3.amazonaws.com/b/x/y.zip":                     {bucket: "b", name: "x/y.zip", suffix: "amazonaws.com"},
		"https://s3-eu-west-1.amazonaws.com/b/y.zip?version=17":  {bucket: "b", name: "y.zip", version: "17", suffix: "amazonaws.com", region: "eu-west-1"},
		"https://s3.eu-west-1.amazonaws.com/b/y.zip":             {bucket: "b", name: "y.zip", suffix: "amazonaws.com", region: "eu-west-1"},
		"https://b.s3.amazonaws.com/x/y.zip":                     {bucket: "b", name: "x/y.zip", suffix: "amazonaws.com"},
		"https://b.s3-eu-west-1.amazonaws.com/y.zip":             {bucket: "b", name: "y.zip", suffix: "amazonaws.com", region: "eu-west-1"},
		"https://my.b.s3.cn-north-1.amazonaws.com.cn/y.zip":      {bucket: "my.b", name: "y.zip", suffix: "amazonaws.com.cn", region: "cn-north-1"},
		"https://minio.example:9000/b/x/y.zip":                   {bucket: "b", name: "x/y.zip", region: "us-east-1"},
		"https://minio.example:9000/b/x.zip?region=eu&version=1": {bucket: "b", name: "x.zip", version: "1", region: "eu"},
		"https://ec2.amazonaws.com/b/y.zip":                      {},
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := objectOfAmazon(u); got != want {
			t.Errorf("%s: got %+v, want %+v", in, got, want)
		}
	}
}

// TestGCS gets an archive and a prefix from a server that speaks as much of Google's storage as that takes.
func TestGCS(t *testing.T) {
	k := newKit(t)
	t.Setenv("STORAGE_EMULATOR_HOST", k.server.URL)
	objects := map[string][]byte{"dir/m.zip": zipOf(map[string]string{"main.tf": ""}), "tree/main.tf": nil, "tree/sub/x.tf": nil}
	k.handle = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/storage/v1/b/bucket/o" {
			items := []map[string]string{}
			for name := range objects {
				if strings.HasPrefix(name, r.URL.Query().Get("prefix")) {
					items = append(items, map[string]string{"name": name, "bucket": "bucket"})
				}
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"kind": "storage#objects", "items": items})
			return true
		}
		name := strings.TrimPrefix(r.URL.Path, "/storage/v1/b/bucket/o/")
		content, ok := objects[name]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, "No such object: bucket/%s", name)
			return true
		}
		_, _ = w.Write(content)
		return true
	}
	const base = "gcs::https://www.googleapis.com/storage/v1/bucket/"
	k.gets(base+"dir/m.zip", "main.tf")
	k.gets(base+"tree", "main.tf sub/x.tf")
	k.fails(base+"dir/none.zip", "No such object: bucket/dir/none.zip")
	k.fails(base+"none", "no objects", "?archive=zip")
	k.fails("gcs::https://www.googleapis.com/storage/v1/bucket", "gcs::https://www.googleapis.com/storage/v1/BUCKET/PATH")
	k.limits.Files = 1
	k.fails(base+"tree", "more than 1 files")
	objects["tree/../../evil.tf"] = nil
	k.limits.Files = 0
	k.fails(base+"tree", "points outside of the package")
}
