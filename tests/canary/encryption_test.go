//go:build unix

package canary

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"
)

// encryptionSteps encrypt states with the key of a program, which also writes it to standard error, and plans
// with a passphrase. Both come from the environment, rightly and in all kinds of wrong ways.
func encryptionSteps(s *site) []step {
	key := base64.StdEncoding.EncodeToString([]byte(s.values.encryptionKey))
	keys := filepath.Join(s.outside, "keys")
	s.program(keys, fmt.Sprintf("in=$(cat)\necho '{\"magic\":\"OpenTofu-External-Key-Provider\",\"version\":1}'\necho 'the key is %s' >&2\n"+
		"[ \"$in$CANARY_KEYS\" != nullrefused ] || exit 1\necho '{\"keys\":{\"encryption_key\":\"%[1]s\",\"decryption_key\":\"%[1]s\"},\"meta\":{}}'\n", key))
	s.bring("encryption.tf", "terraform {\n  encryption {\n    state {\n      enforced = true\n    }\n    plan {\n      enforced = true\n    }\n  }\n}\n")
	given := func(passphrase string) []string {
		return []string{fmt.Sprintf("TF_ENCRYPTION=key_provider \"external\" \"k\" {\n  command = [%q]\n}\nkey_provider \"pbkdf2\" \"p\" {\n  iterations = 200000\n  hash_function = \"sha256\"\n  passphrase = %s\n}\n"+
			"method \"aes_gcm\" \"k\" {\n  keys = key_provider.external.k\n}\nmethod \"aes_gcm\" \"p\" {\n  keys = key_provider.pbkdf2.p\n}\n"+
			"state {\n  method = method.aes_gcm.k\n}\nplan {\n  method = method.aes_gcm.p\n}\n", keys, passphrase)}
	}
	quoted := strconv.Quote(s.values.passphrase)
	s.env = append(s.env, given(quoted)...)
	steps := []step{
		{args: "plan VARS -out=p"},
		{args: "show -json p", prints: "planned_values"},
		{args: "apply VARS p", prints: "10 added"},
		{args: "state rekey", prints: "terraform.tfstate"},
		{args: "state pull", prints: "sim_thing"},
		{args: "console VARS -plan", stdin: "sim_thing.a.id\n"},
		{args: "apply VARS -auto-approve -var trigger=2 -var delay=30s", exit: -1, signals: []syscall.Signal{syscall.SIGKILL}},
		{args: "apply VARS -auto-approve -var trigger=3", exit: 1, guard: true, env: []string{"CANARY_KEYS=refused"}, prints: "key_provider.external.k"},
		{args: "apply VARS -auto-approve -var trigger=4", prints: "Apply complete"},
		{args: "show -json p", exit: 1, env: given(strconv.Quote("x" + s.values.passphrase)), prints: "another key"},
	}
	word := firstWord(s.values.passphrase)
	for _, wrong := range []string{
		"[" + quoted + "]", word, `"` + word, "file(" + quoted + ")", "tonumber(" + quoted + ")", "local.x[" + quoted + "]", word + "()", "{ " + word + " = 1 }." + word, quoted + " " + word,
	} {
		steps = append(steps, step{args: "plan VARS -out=p", exit: 1, guard: true, env: given(wrong)}, step{args: "plan VARS -out=p -json", exit: 1, guard: true, env: append(given(wrong), toStderr...)})
	}
	for _, wrong := range []string{`{"key_provider":{"pbkdf2":{"p":{"passphrase":"` + word, `{"key_provider":{"pbkdf2":{"p":{"passphrase":"${` + word + `}"}}},"plan":{"method":"method.aes_gcm.p"},"` + word + `":1}`} {
		steps = append(steps, step{args: "plan VARS -out=p", exit: 1, guard: true, env: []string{"TF_ENCRYPTION=" + wrong}})
	}
	return append(steps, step{args: "destroy VARS -auto-approve", prints: "Destroy complete"})
}
