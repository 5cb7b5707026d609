package script

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"strings"
)

// encodings are the forms in which a secret may hide. Base64 depends on where the text begins, so the part is
// taken that is the same for each of the three alignments.
func encodings(secret string) map[string]string {
	out := map[string]string{"verbatim": secret, "hex": hex.EncodeToString([]byte(secret)), "upper-case hex": strings.ToUpper(hex.EncodeToString([]byte(secret)))}
	if s := url.QueryEscape(secret); s != secret {
		out["URL-encoded"] = s
	}
	if quoted, err := json.Marshal(secret); err == nil {
		if s := strings.Trim(string(quoted), `"`); s != secret {
			out["as JSON"] = s
		}
	}
	const least = 8 // characters of base64 that are not a coincidence
	for shift, name := range []string{"base64", "base64 after one byte", "base64 after two bytes"} {
		enc := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), secret...))
		skip := (shift*8 + 5) / 6
		if middle := enc[skip : len(enc)-1]; len(middle) >= least {
			out[name] = middle
		}
	}
	return out
}

// unzipped returns the entries of a zip archive, none if text isn't one.
func unzipped(text []byte) map[string][]byte {
	r, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil
	}
	out := map[string][]byte{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			continue
		}
		content, err := io.ReadAll(io.LimitReader(in, 64<<20))
		if err == nil {
			out[f.Name] = content
		}
		_ = in.Close() // it was only read
	}
	return out
}
