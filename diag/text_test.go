package diag

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestSentence(t *testing.T) {
	for in, want := range map[string]string{
		"the default workspace cannot be deleted": "The default workspace cannot be deleted.",
		"it's over, ended.":                       "It's over, ended.",
		"terraform.tfstate: it is damaged":        "terraform.tfstate: it is damaged.",
		"interrupted":                             "Interrupted.",
		"reading: no":                             "Reading: no.",
		"a.b is not there":                        "a.b is not there.",
		`"x" is not a name`:                       `"x" is not a name.`,
		"./x is there":                            "./x is there.",
		"":                                        ".",
	} {
		if got := Sentence(errors.New(in)); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestProblem(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "mkdir", Path: "a/b", Err: errors.New("not a directory")}, "a/b could not be created: part of its path is a file, not a directory"},
		{&fs.PathError{Op: "ioctl", Path: "a", Err: errors.New("no")}, "ioctl a: no"},
		{errors.New("too large"), "too large"},
	} {
		if got := Problem(test.err); got != test.want {
			t.Errorf("%v: got %q, want %q", test.err, got, test.want)
		}
	}
}

func TestReason(t *testing.T) {
	at := func(err error) error {
		return fmt.Errorf("reading: %w", &fs.PathError{Op: "open", Path: "secret", Err: err})
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{at(fs.ErrPermission), "permission denied"},
		{at(errors.New("is a directory")), "it is a directory"},
		{errors.New("too large"), "too large"},
	} {
		if got := Reason(test.err); got != test.want {
			t.Errorf("%v: got %q, want %q", test.err, got, test.want)
		}
	}
}
