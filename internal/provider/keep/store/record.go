package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Secret is the public part of a secret: everything but its value.
type Secret struct {
	Name        string
	Version     int64   // 1 for the first value, incremented by each new one
	Description *string // nil if none was given
}

// Note is a plain record.
type Note struct {
	Name, Text string
}

func (r *secretRecord) show(name string) Secret {
	shown := Secret{Name: name, Version: r.Version}
	if r.Description != nil {
		text := *r.Description
		shown.Description = &text
	}
	return shown
}

// CreateSecret stores a new secret with version 1. It fails with [ErrExists] if the name is taken. The
// value is copied.
func (s *Store) CreateSecret(ctx context.Context, name string, description *string, value []byte) (Secret, error) {
	if err := checkSecret(name, description, value); err != nil {
		return Secret{}, err
	}
	var made Secret
	err := s.update(ctx, func(d *document) error {
		if d.Secrets[name] != nil {
			return s.taken("secret")
		}
		r := &secretRecord{Value: slices.Clone(value), Version: 1, Description: description}
		d.Secrets[name] = r
		made = r.show(name)
		return nil
	})
	return made, err
}

// UpdateSecret sets the description and, unless value is nil, stores a new value under the next version. It
// fails with [ErrNotFound] if there is no such secret.
func (s *Store) UpdateSecret(ctx context.Context, name string, description *string, value []byte) (Secret, error) {
	if err := checkSecret(name, description, value); err != nil {
		return Secret{}, err
	}
	var made Secret
	err := s.update(ctx, func(d *document) error {
		r := d.Secrets[name]
		if r == nil {
			return s.missing(d, "secret")
		}
		if value != nil {
			clear(r.Value)
			r.Value = slices.Clone(value)
			r.Version++
		}
		r.Description = description
		made = r.show(name)
		return nil
	})
	return made, err
}

// Secret returns a secret without its value. It fails with [ErrNotFound] if there is none.
func (s *Store) Secret(ctx context.Context, name string) (Secret, error) {
	var found Secret
	err := s.view(ctx, func(d *document) error {
		r := d.Secrets[name]
		if r == nil {
			return s.missing(d, "secret")
		}
		found = r.show(name)
		return nil
	})
	return found, err
}

// Reveal returns a secret with its value, which the caller clears after use. It fails with [ErrNotFound] if
// there is none.
func (s *Store) Reveal(ctx context.Context, name string) (Secret, []byte, error) {
	var found Secret
	var value []byte
	err := s.view(ctx, func(d *document) error {
		r := d.Secrets[name]
		if r == nil {
			return s.missing(d, "secret")
		}
		found, value = r.show(name), slices.Clone(r.Value)
		return nil
	})
	return found, value, err
}

// DeleteSecret removes a secret. It is not an error if there is none.
func (s *Store) DeleteSecret(ctx context.Context, name string) error {
	return s.change(ctx, func(d *document) bool {
		r := d.Secrets[name]
		if r == nil {
			return false
		}
		clear(r.Value)
		delete(d.Secrets, name)
		return true
	})
}

// SecretNames lists, sorted, the names that begin with prefix.
func (s *Store) SecretNames(ctx context.Context, prefix string) ([]string, error) {
	var names []string
	err := s.view(ctx, func(d *document) error {
		for name := range maps.Keys(d.Secrets) {
			if strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// CreateNote stores a new note. It fails with [ErrExists] if the name is taken.
func (s *Store) CreateNote(ctx context.Context, n Note) error {
	if err := checkNote(n); err != nil {
		return err
	}
	return s.update(ctx, func(d *document) error {
		if d.Notes[n.Name] != nil {
			return s.taken("note")
		}
		d.Notes[n.Name] = &noteRecord{Text: n.Text}
		return nil
	})
}

// UpdateNote replaces the text of a note. It fails with [ErrNotFound] if there is none.
func (s *Store) UpdateNote(ctx context.Context, n Note) error {
	if err := checkNote(n); err != nil {
		return err
	}
	return s.update(ctx, func(d *document) error {
		r := d.Notes[n.Name]
		if r == nil {
			return s.missing(d, "note")
		}
		r.Text = n.Text
		return nil
	})
}

// Note returns a note. It fails with [ErrNotFound] if there is none.
func (s *Store) Note(ctx context.Context, name string) (Note, error) {
	var found Note
	err := s.view(ctx, func(d *document) error {
		r := d.Notes[name]
		if r == nil {
			return s.missing(d, "note")
		}
		found = Note{Name: name, Text: r.Text}
		return nil
	})
	return found, err
}

// DeleteNote removes a note. It is not an error if there is none.
func (s *Store) DeleteNote(ctx context.Context, name string) error {
	return s.change(ctx, func(d *document) bool {
		_, there := d.Notes[name]
		delete(d.Notes, name)
		return there
	})
}

// change is update for removals: if there is nothing to remove, the file is not written, and a missing
// store is not created.
func (s *Store) change(ctx context.Context, fn func(*document) (changed bool)) error {
	if !s.exists() {
		return s.Check(ctx)
	}
	err := s.update(ctx, func(d *document) error {
		if !fn(d) {
			return errUnchanged
		}
		return nil
	})
	if err == errUnchanged {
		return nil
	}
	return err
}

func checkSecret(name string, description *string, value []byte) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if description != nil {
		if err := checkSize("description", len(*description)); err != nil {
			return err
		}
	}
	return checkSize("value", len(value))
}

func checkNote(n Note) error {
	if err := CheckName(n.Name); err != nil {
		return err
	}
	return checkSize("text", len(n.Text))
}

func (s *Store) taken(what string) error {
	return &Problem{Kind: ErrExists, Summary: "Name already in use", Detail: fmt.Sprintf(
		"The store %s already holds a %s of this name. Import it to manage it here, or choose another name.", s.name, what)}
}

func (s *Store) missing(d *document, what string) error {
	if d.absent {
		return &Problem{Kind: ErrNoStore, Summary: "No such " + what, Detail: fmt.Sprintf(
			"There is no such %s because the store %s does not exist. Check the path; the first %[1]s created there makes the file.", what, s.name)}
	}
	return &Problem{Kind: ErrNotFound, Summary: "No such " + what, Detail: fmt.Sprintf(
		"The store %s holds no %s of this name. Check the name, or create it first.", s.name, what)}
}
