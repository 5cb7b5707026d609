package secretscan

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"strings"
)

const (
	maxDepth = 4        // of archives in archives
	maxEntry = 64 << 20 // bytes that are unpacked of an entry
)

// unpacked returns the entries of a zip or tar archive, or the content of a gzip file, by their names; none
// for any other text. Each name ends in "!", which separates it from names packed in the entry.
func unpacked(text []byte) map[string][]byte {
	switch {
	case bytes.HasPrefix(text, []byte("PK\x03\x04")):
		return unzipped(text)
	case bytes.HasPrefix(text, []byte("\x1f\x8b")):
		if content := gunzipped(text); content != nil {
			return map[string][]byte{"gzip!": content}
		}
	case len(text) > 262 && string(text[257:262]) == "ustar":
		return untarred(text)
	}
	return nil
}

// unzipped has the names of the entries as well, and the comment of the archive.
func unzipped(text []byte) map[string][]byte {
	r, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil
	}
	var names strings.Builder
	out := map[string][]byte{}
	for _, f := range r.File {
		names.WriteString(f.Name + " " + f.Comment + "\n")
		in, err := f.Open()
		if err != nil {
			continue
		}
		out[f.Name+"!"] = readSome(in)
		_ = in.Close() // it was only read
	}
	out["names!"] = []byte(names.String() + r.Comment)
	return out
}

func gunzipped(text []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil
	}
	return readSome(r)
}

func untarred(text []byte) map[string][]byte {
	out := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(text)); ; {
		h, err := r.Next()
		if err != nil {
			return out
		}
		out[h.Name+"!"] = readSome(r)
	}
}

// readSome reads to the end, the limit, or where the input is damaged.
func readSome(in io.Reader) []byte {
	content, _ := io.ReadAll(io.LimitReader(in, maxEntry))
	return content
}
