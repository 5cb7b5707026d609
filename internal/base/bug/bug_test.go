package bug

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestCatch(t *testing.T) {
	if err := Catch(func() error { return io.EOF }); err != io.EOF {
		t.Error(err)
	}
	if err := Call(func() {}); err != nil {
		t.Error(err)
	}
	for want, f := range map[string]func(){
		"index out of range":      func() { var none []int; _ = none[len(none)] },
		"an unexpected condition": func() { panic("hunter2") },
	} {
		err := Call(f)
		if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "bug.TestCatch") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	}
}
