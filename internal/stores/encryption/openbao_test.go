package encryption

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/baoserver"
)

// TestRealOpenBao wraps keys with a real server: keys of each length, after a rotation, with data that is
// authenticated, and with everything that a server refuses.
func TestRealOpenBao(t *testing.T) {
	server := baoserver.Start(t)
	t.Log("tested against", server.Version)
	text := func(more string) string {
		return gcmWith("key_provider \"openbao\" \"x\" {\n  key_name = \""+baoserver.Key+"\"\n"+more+"}\n", "openbao.x")
	}
	as := func(token string) []string { return []string{"BAO_ADDR=" + server.URL, "BAO_TOKEN=" + token} }
	const aad = "  associated_data = \"QUJD\"\n"
	for _, more := range []string{"", "  key_length = 16\n", aad} {
		stored := sealed(t, must(t, text(more), as(baoserver.Token)...).State)
		server.Rotate()
		opens(t, must(t, text(more), as(baoserver.Token)...).State, stored)
	}
	stored := sealed(t, must(t, text(""), as(baoserver.Token)...).State)
	revoked := server.NewToken(`path "transit/*" { capabilities = ["update"] }`)
	opens(t, must(t, text(""), as(revoked)...).State, stored)
	server.Revoke(revoked)
	encryptOnly := server.NewToken(fmt.Sprintf(`path "transit/datakey/plaintext/%s" { capabilities = ["update"] }`, baoserver.Key))
	refused := func(what, more, token, want string) {
		t.Helper()
		_, err := must(t, text(more), as(token)...).State.Decrypt(stored)
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrWrongKey) || token != "" && strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	refused("no token", "", "", "No token is set")
	refused("a wrong token", "", "c4nary", "may have expired")
	refused("a revoked token", "", revoked, "may have expired")
	refused("a token that may only encrypt", "", encryptOnly, "its policies may not allow this operation")
	refused("another engine", "  transit_engine_path = \"/nope\"\n", baoserver.Token, "transit_engine_path")
	refused("other data", aad, baoserver.Token, "400 Bad Request")
	server.Rotate()
	server.Forget()
	refused("a version that was given up", "", baoserver.Token, "400 Bad Request")
	server.Seal()
	refused("a sealed server", "", baoserver.Token, "The server is sealed")
	t.Run("another key", func(t *testing.T) {
		other := strings.Replace(text(""), baoserver.Key, "nope", 1)
		if _, err := must(t, other, as(baoserver.Token)...).State.EncryptState([]byte(content), meta); err == nil {
			t.Error("a key that does not exist encrypts")
		}
	})
}
