package backend_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/kinds"
)

// TestRedactKnowsSpellings hides the texts of a configuration also as addresses and documents spell them.
func TestRedactKnowsSpellings(t *testing.T) {
	const secret = `pass"word <&> 7/x`
	kind := kinds.All()["http"]
	cfg, err := kind.FromValue(cty.ObjectVal(map[string]cty.Value{"address": cty.StringVal("https://h.example/s"), "password": cty.StringVal(secret)}))
	if err != nil {
		t.Fatal(err)
	}
	for _, spelled := range []string{secret, url.QueryEscape(secret), `pass\"word <&> 7/x`, "https://h.example/s"} {
		if got := kind.Redact("begin "+spelled+" end", cfg); !strings.HasPrefix(got, "begin (hidden)") || strings.Contains(got, "word") || strings.Contains(got, "h.example") {
			t.Errorf("%q became %q", spelled, got)
		}
	}
}

// TestUnexpectedArgumentIsNotQuoted has an argument whose name may come from a secret.
func TestUnexpectedArgumentIsNotQuoted(t *testing.T) {
	_, err := kinds.All()["http"].FromValue(cty.ObjectVal(map[string]cty.Value{"s3cret": cty.True}))
	unexpected, ok := errors.AsType[*backend.UnexpectedError](err)
	if !ok || unexpected.Name != "s3cret" || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v, want an UnexpectedError that does not quote the name", err)
	}
}
