package engine_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
)

// takenOutConfig has passwords that are made of tokens. If out is set, two of the tokens are taken out of the
// state. more is added to the objects by name, and "" has others.
func takenOutConfig(out bool, more map[string]string) map[string]string {
	names := ""
	if out {
		names = "token"
	}
	return map[string]string{"main.tf": prelude + fmt.Sprintf(`
resource "sim_account" "one" {
  name = "one"
  lifecycle { ephemeral_attributes = [token] }
}
resource "sim_account" "two" {
  name = "two"
  lifecycle { ephemeral_attributes = [%s] }
  %s
}
resource "sim_account" "simple" {
  name     = "simple"
  password = sim_account.two.token
  lifecycle { ephemeral_attributes = [password, %s] }
  %s
}
resource "sim_account" "last" {
  name     = "last"
  password = join("-", [sim_account.one.token, sim_account.simple.token])
  lifecycle { ephemeral_attributes = [password] }
}
resource "sim_account" "user" {
  name     = "user"
  password = join("-", [sim_account.one.token, sim_account.two.token])
  lifecycle { ephemeral_attributes = [password] }
}
%s`, names, more["two"], names, more["simple"], more[""])}
}

// TestE97_TakenOut has applies fail or die at each point when they take a value out of the state. Whatever
// they have recorded, the next one needs no other value, and finishes.
func TestE97_TakenOut(t *testing.T) {
	t.Parallel()
	hashes := fingerprint.NewHashes()
	salt, err := fingerprint.NewSalt(bytes.NewReader(make([]byte, 20)))
	if err != nil {
		t.Fatal(err)
	}
	for name, more := range map[string]map[string]string{
		"nothing else":         nil,
		"a user changes":       {"simple": `note = "n"`},
		"it changes":           {"two": `note = "n"`},
		"another is made":      {"": `resource "sim_thing" "other" { name = sim_account.simple.id }`},
		"another user is made": {"": "resource \"sim_account\" \"other\" {\n  name = \"other\"\n  password = sim_account.two.token\n  lifecycle { ephemeral_attributes = [password] }\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after := takenOutConfig(true, more)
			for at := 0; at < 100; at++ {
				s := newHeldSide(t, t.TempDir(), true, []fingerprint.Salt{salt}, hashes)
				s.command(takenOutConfig(false, nil), nil, heldCommand{})
				if at == 0 {
					s.rules = []simprovider.Rule{{RPC: "ApplyResourceChange", Do: "error"}}
				}
				r := s.command(after, nil, heldCommand{killAt: at})
				s.rules = nil
				if at > 0 && !r.killed {
					if at < 4 {
						t.Errorf("got an apply that cannot die later than at point %d", at)
					}
					return
				}
				for range 2 {
					if r = s.command(after, nil, heldCommand{}); r.diags.HasErrors() {
						t.Fatalf("got %v after an apply that died at point %d", r.diags.Err(), at)
					}
				}
				stored := string(s.encoded(s.state))
				if r.changes > 0 || strings.Contains(stored, "token-CANARY-two") || strings.Contains(stored, "token-CANARY-simple") {
					t.Errorf("got %q in the end after an apply that died at point %d, want nothing, and no value in the state", r.planned, at)
				}
			}
		})
	}
}
