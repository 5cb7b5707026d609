package store

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestErrorsShowNoNames has an error for each way to name something: the name may come from an ephemeral
// value.
func TestErrorsShowNoNames(t *testing.T) {
	ctx, s := t.Context(), newStore(t, Options{})
	check := func(err error) {
		t.Helper()
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), canary) {
			t.Errorf("%v", err)
		}
	}
	_, _, err := s.Reveal(ctx, canary) // there is no store
	check(err)
	mustCreate(t, s, canary, "x")
	_, err = s.CreateSecret(ctx, canary, nil, nil)
	check(err)
	_, err = s.CreateSecret(ctx, canary+"2", nil, make([]byte, maxValue+1))
	check(err)
	_, err = s.Secret(ctx, canary+"2")
	check(err)
	_, err = s.Note(ctx, canary)
	check(err)
	check(CheckName("a b" + canary))
	_, _, err = s.Grant(ctx, time.Minute, strings.Repeat(canary, maxValue))
	check(err)
}
