package fetch

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
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
	k.files["/bucket/tree/main.tf"], k.files["/bucket/tree/sub/x.tf"] = nil, nil
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

// TestGCS gets an archive and a prefix from a server that speaks as much of Google's storage as that takes.
func TestGCS(t *testing.T) {
	k := newKit(t)
	t.Setenv("STORAGE_EMULATOR_HOST", k.server.URL)
	objects := map[string][]byte{"dir/m.zip": zipOf(map[string]string{"main.tf": ""}), "tree/main.tf": nil, "tree/sub/x.tf": nil}
	k.handle = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/b/bucket/o") {
			items := []map[string]string{}
			for name := range objects {
				if strings.HasPrefix(name, r.URL.Query().Get("prefix")) {
					items = append(items, map[string]string{"name": name, "bucket": "bucket"})
				}
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"kind": "storage#objects", "items": items})
			return true
		}
		_, name, _ := strings.Cut(r.URL.Path, "/bucket/")
		content, ok := objects[name]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		_, _ = w.Write(content)
		return true
	}
	const base = "gcs::https://www.googleapis.com/storage/v1/bucket/"
	k.gets(base+"dir/m.zip", "main.tf")
	k.gets(base+"tree", "main.tf sub/x.tf")
	k.fails(base+"dir/none.zip", "exist")
}
