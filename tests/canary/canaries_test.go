//go:build unix

package canary

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/secretscan"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// canaries are the values that a site plants, new ones for each.
type canaries struct {
	option, env, args, auto, typed string // variables, by their routes
	user, password, number, key    string // parts of a variable in a file
	name                           string // of the ephemeral resources of the test provider
	passphrase, encryptionKey      string // of the encryption of plans and states
	kept                           string // a sensitive value in a file, which is not ephemeral
}

// odd are the characters that some document or shell escapes.
const odd = "\"<&>+/%é\t"

// oddName are those that may be in the name of an object of the test provider, which is a file's too.
const oddName = "\"<&>+%é"

func newCanaries(t *testing.T) canaries {
	t.Helper()
	digits, err := rand.Int(rand.Reader, new(big.Int).Exp(big.NewInt(10), big.NewInt(24), nil))
	if err != nil {
		t.Fatal(err)
	}
	lines := func() string { return rand.Text() + odd + "\n" + rand.Text() }
	return canaries{
		option: lines(), env: lines(), args: lines(), auto: lines(), typed: rand.Text() + odd + rand.Text(),
		user: lines(), password: lines(), number: "7" + fmt.Sprintf("%024d", digits), key: lines(),
		name: rand.Text() + oddName, passphrase: rand.Text() + odd + rand.Text(), encryptionKey: rand.Text() + rand.Text()[:6], kept: lines(),
	}
}

// plant makes the canaries known to a scanner, each as a whole and in its parts.
func (c canaries) plant(s *secretscan.Scanner) {
	for name, text := range map[string]string{
		"var.by_option": c.option, "var.by_env": c.env, "var.by_args": c.args, "var.by_auto": c.auto, "the input": c.typed,
		"var.by_file.user": c.user, "var.by_file.password": c.password, "var.by_file.key": c.key, "the passphrase": c.passphrase, "the file of sim_account.listed": c.kept,
	} {
		s.Add(name, text)
		s.Add("the first part of "+name, text[:len(rand.Text())])
		s.Add("the last part of "+name, text[len(text)-len(rand.Text()):])
	}
	s.Add("var.by_file.number", c.number)
	s.Add("the value of ephemeral.sim_secret.s", simcloud.Canary("sim_secret", c.name))
	s.Add("the value of ephemeral.sim_token.t", simcloud.Canary("sim_token", c.name))
	s.Add("the token of sim_account.made", "token-CANARY-made")
	s.Add("a lease", "CANARY-lease-")
	s.Add("the key of the encryption", c.encryptionKey)
	s.Add("local.hashed", sum(c.env))
}

// varFile is the content of a file for -var-file.
func (c canaries) varFile() string {
	return fmt.Sprintf("by_file = {\n  user     = %s\n  password = %s\n  number   = %s\n  key      = %s\n}\n", strconv.Quote(c.user), strconv.Quote(c.password), c.number, strconv.Quote(c.key))
}

// autoFile is the content of a file *.auto.tfvars.json.
func (c canaries) autoFile(t *testing.T) string {
	t.Helper()
	b, err := json.Marshal(map[string]string{"by_auto": c.auto})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
