package simcloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Object is one object in the simulated cloud, as in its JSON file. A test may change Attrs in the file to
// simulate drift.
type Object struct {
	ID     string                     `json:"id"`
	Type   string                     `json:"type"`
	Name   string                     `json:"name"`
	Serial int64                      `json:"serial"`
	Attrs  map[string]json.RawMessage `json:"attrs"`
	// SecretHash is simlog.Hash of the write-only secret that the last create or update received; "" for
	// none.
	SecretHash string `json:"secret_hash"`
}

// ObjectPath returns the path of an object's file in the directory of a simulated cloud.
func ObjectPath(dir, id string) string {
	return filepath.Join(dir, url.PathEscape(id)+".json")
}

// ReadObject reads one object of the cloud in the directory. The error of a missing object is
// fs.ErrNotExist.
func ReadObject(dir, id string) (*Object, error) {
	text, err := os.ReadFile(ObjectPath(dir, id))
	if err != nil {
		return nil, err
	}
	var o Object
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("object %q of the simulated cloud: %w", id, err)
	}
	return &o, nil
}

// WriteObject stores the object completely or not at all.
func WriteObject(dir string, o *Object) error {
	text, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return fmt.Errorf("object %q of the simulated cloud: %w", o.ID, err)
	}
	return replaceFile(ObjectPath(dir, o.ID), append(text, '\n'))
}

// replaceFile writes the file so that a reader sees the old or the new content. It is not synchronized: the
// cloud need not survive a crash of the machine.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Objects lists the objects of the cloud in the directory, ordered by id.
func Objects(dir string) ([]*Object, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var out []*Object
	for _, p := range paths {
		id, err := url.PathUnescape(strings.TrimSuffix(filepath.Base(p), ".json"))
		if err != nil {
			return nil, err
		}
		o, err := ReadObject(dir, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted between the listing and the reading
		}
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}
