package powercut

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestLeft makes one change after the other to a directory with a file and lists what may be left.
func TestLeft(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) func() error {
		return func() error { return os.WriteFile(at(name), []byte(text), 0o600) }
	}
	if err := write("a", "old")(); err != nil {
		t.Fatal(err)
	}
	d, err := New(dir, "skipped")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	none := func() error { return nil }
	for _, step := range []struct {
		do         func() error
		call, path string // synchronized after it
		want       []Image
	}{
		{none, "", "", []Image{{"a": []byte("old")}}},
		{func() error { return errors.Join(os.Mkdir(at("skipped"), 0o700), write("skipped/x", "x")()) }, "", "", []Image{{"a": []byte("old")}}},
		{write("b", "newest"), "", "", []Image{{"a": []byte("old")}, {"a": []byte("old"), "b": nil}, {"a": []byte("old"), "b": []byte("new")}, {"a": []byte("old"), "b": []byte("newest")}}},
		{none, "fsync", "b", []Image{{"a": []byte("old")}, {"a": []byte("old"), "b": []byte("newest")}}},
		{none, "fsync", "", []Image{{"a": []byte("old"), "b": []byte("newest")}}},
		{func() error { return os.Rename(at("b"), at("a")) }, "", "", []Image{
			{"a": []byte("old")}, {"a": []byte("newest")}, {"a": []byte("old"), "b": []byte("newest")}, {"a": []byte("newest"), "b": []byte("newest")},
		}},
		{none, "fsync", "", []Image{{"a": []byte("newest")}}},
		{write("a", "newest, longer"), "", "", []Image{{"a": []byte("newest")}, {"a": []byte("newest, longer")}, {"a": []byte("newest, lo")}}},
		{none, "fdatasync", "a", []Image{{"a": []byte("newest, longer")}}},
		{func() error { return errors.Join(os.Mkdir(at("d"), 0o700), write("d/c", "c")()) }, "fsync", "d/c", []Image{
			{"a": []byte("newest, longer")}, {"a": []byte("newest, longer"), "d/": nil}, {"a": []byte("newest, longer"), "d/": nil, "d/c": []byte("c")},
		}},
		{none, "fsync", "d", []Image{{"a": []byte("newest, longer")}, {"a": []byte("newest, longer"), "d/": nil, "d/c": []byte("c")}}},
		{none, "fsync", "", []Image{{"a": []byte("newest, longer"), "d/": nil, "d/c": []byte("c")}}},
		{func() error { return os.RemoveAll(at("d")) }, "", "", []Image{{"a": []byte("newest, longer"), "d/": nil, "d/c": []byte("c")}, {"a": []byte("newest, longer")}}},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		var synced fs.FileInfo
		if step.call != "" {
			if synced, err = os.Stat(at(step.path)); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Before(at(step.path), synced); err != nil {
			t.Fatal(err)
		}
		images, err := d.Left()
		if err != nil {
			t.Fatal(err)
		}
		got, want := map[string]bool{}, map[string]bool{}
		for _, m := range images {
			got[m.Key()] = true
		}
		for _, m := range step.want {
			want[m.Key()] = true
			if !got[m.Key()] {
				t.Errorf("%s %s: nothing leaves %q", step.call, step.path, m)
			}
		}
		for _, m := range images {
			if !want[m.Key()] {
				t.Errorf("%s %s: this is left: %q", step.call, step.path, m)
			}
		}
	}
}

func TestLay(t *testing.T) {
	m := Image{"a": []byte("text"), "d/": nil, "d/c": []byte("c")}
	dir := t.TempDir()
	if err := m.Lay(dir); err != nil {
		t.Fatal(err)
	}
	d, err := New(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	images, err := d.Left()
	if err != nil || len(images) != 1 || images[0].Key() != m.Key() {
		t.Errorf("Left: got %q, %v, want the image %q alone", images, err, m.Key())
	}
}

func TestManyNames(t *testing.T) {
	dir := t.TempDir()
	d, err := New(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for i := range maxPending + 1 {
		if err := os.WriteFile(filepath.Join(dir, string(rune('a'+i))), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	images, err := d.Left()
	if want := 2 + 2*(maxPending+1); err != nil || len(images) != want {
		t.Errorf("Left: got %d images, %v, want %d", len(images), err, want)
	}
}
