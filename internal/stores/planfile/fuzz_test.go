package planfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzReadBytes reads saved plans in which one entry has other content, and files that may be anything. What
// is read is written and read again without a difference.
func FuzzReadBytes(f *testing.F) {
	whole := write(f, fullFile(f))
	names, contents := entries(f, whole)
	for i, content := range contents {
		f.Add(uint8(i), content)
	}
	f.Add(uint8(255), whole)
	f.Add(uint8(255), []byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, at uint8, content []byte) {
		src := content
		if int(at) < len(names) {
			src = withEntry(t, names, contents, int(at), content)
		}
		file, err := ReadBytes(src)
		if err != nil {
			if !errors.Is(err, ErrNotPlan) && !errors.Is(err, ErrForeign) && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) &&
				!errors.Is(err, ErrTooBig) && int(at) < len(names) {
				t.Errorf("an error of no kind: %v", err)
			}
			return
		}
		for _, c := range file.Plan.Changes {
			// What a value is, is found out when it is used.
			_, _ = c.Before.Live()
			_, _ = c.After.Live()
		}
		var once bytes.Buffer
		if err := Write(&once, file); err != nil {
			return // what cannot be decoded is not written
		}
		again, err := ReadBytes(once.Bytes())
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if twice := write(t, again); !bytes.Equal(once.Bytes(), twice) {
			t.Error("what was read is written differently")
		}
	})
}

// entries returns the entries of a zip file.
func entries(tb testing.TB, src []byte) (names []string, contents [][]byte) {
	tb.Helper()
	z, err := zip.NewReader(bytes.NewReader(src), int64(len(src)))
	if err != nil {
		tb.Fatal(err)
	}
	for _, entry := range z.File {
		r, err := entry.Open()
		if err != nil {
			tb.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			tb.Fatal(err)
		}
		names, contents = append(names, entry.Name), append(contents, content)
	}
	return names, contents
}

// withEntry returns a zip file in which one entry has other content.
func withEntry(tb testing.TB, names []string, contents [][]byte, at int, content []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i, name := range names {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			tb.Fatal(err)
		}
		text := content
		if i != at {
			text = contents[i]
		}
		if _, err := w.Write(text); err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}
