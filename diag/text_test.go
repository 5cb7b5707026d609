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
			t.Errorf("%q: %q", in, got)
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
		if got := Reason(test.err); got != test.want && got != fs.ErrPermission.Error() {
			t.Errorf("%v: %q", test.err, got)
		}
	}
}
