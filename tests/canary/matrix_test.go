//go:build unix

package canary

import (
	"fmt"
	"net/url"
	"syscall"
	"testing"
)

// step is a command of a row: what it is given, and how it ends.
type step struct {
	args    string            // the command line, in which VARS sets the ephemeral variables
	exit    int               // the status; -1 if a signal ended the program
	prints  string            // a part of the output, which shows that what is meant has happened
	stdin   string            //
	env     []string          // besides that of the site
	files   map[string]string // that are written before; those without content are removed
	deeds   string            // of the provider: a list of simprovider.Rule in JSON
	guard   bool              // only the leak guard stops what the provider returns
	signals []syscall.Signal  // sent when sim_slow.waits is being changed
	// meanwhile is called then. It is for steps without signals.
	meanwhile func()
}

// row is a run of commands that follow each other in a site.
type row struct {
	name   string
	config string // a folder of testdata
	all    bool   // left out by default
	steps  func(s *site) []step
}

// TestNothingLeaks runs each row, and searches everything after each of its steps.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	runRows(t, shipped)
}

func runRows(t *testing.T, binary string) {
	for _, r := range rows() {
		t.Run(r.name, func(t *testing.T) {
			if r.all && !all() {
				t.Skip("MAYFLY_TEST_CANARIES=all runs this")
			}
			t.Parallel()
			s := newSite(t, binary, r.config)
			s.follow(r.steps(s))
			s.report()
		})
	}
}

// follow carries out steps in a directory that is initialized.
func (s *site) follow(steps []step) {
	s.Helper()
	s.bring("by.auto.tfvars.json", s.values.autoFile(s.T))
	s.run(step{args: "init -plugin-dir=" + mirror})
	for _, st := range steps {
		if !st.guard || s.binary == shipped {
			s.run(st)
		}
	}
}

// report fails the test if anything was found.
func (s *site) report() {
	s.Helper()
	for _, f := range s.found {
		s.Error(f)
	}
}

func rows() []row {
	return []row{
		{name: "documents", config: "main", steps: documentSteps},
		{name: "changes", config: "main", steps: changeSteps},
		{name: "failures", config: "main", steps: failureSteps},
		{name: "crashes", config: "main", steps: crashSteps},
		{name: "every crash", config: "main", all: true, steps: everyCrash},
		{name: "signals", config: "main", steps: signalSteps},
		{name: "actions", config: "actions", steps: actionSteps},
		{name: "tests", config: "suite", steps: testSteps},
		{name: "encryption", config: "main", steps: encryptionSteps},
	}
}

// toStderr lets the log come with the other output.
var toStderr = []string{"TF_LOG_PATH="}

// documentSteps make, show and apply a plan.
func documentSteps(s *site) []step {
	return []step{
		{args: "validate"},
		{args: "validate -json", env: toStderr},
		{args: "plan -input=false", exit: 1, prints: "No value for required variable"},
		{args: "plan VARS -out=p -json-into=plan.jsonl -lazy-ephemeral", env: toStderr},
		{args: "plan VARS -require-ephemeral=sensitive", exit: 1, prints: "sim_account.listed: token"},
		{args: "plan VARS -json -out=p -html=plan.html -markdown=plan.md"},
		{args: "show -html=shown.html -markdown=shown.md p"},
		{args: "explain VARS -plan=p sim_vault.v sim_account.listed sim_thing.a var.by_env ephemeral.sim_secret.s local.joined"},
		{args: "show -json p"},
		{args: "graph VARS"},
		{args: "console VARS", stdin: "var.by_env\n", prints: "(ephemeral value)"},
		{args: "console VARS", stdin: "[ephemeral.sim_secret.s.value, local.hashed, keys(var.by_file), try(tonumber(var.by_env), nonsensitive(local.joined))]\n"},
		{args: "console VARS", stdin: "tonumber(var.by_env)\n", exit: 1},
		{args: "apply -input=false p", exit: 1, prints: "must be given again"},
		{args: "apply VARS p", prints: "10 added"},
		{args: "explain VARS -json sim_vault.v sim_account.versioned"},
		{args: "show -html=state.html -markdown=state.md"},
		{args: "show -json"},
		{args: "output"},
		{args: "output -json"},
		{args: "state show sim_vault.v"},
		{args: "state show sim_account.listed"},
		{args: "state sensitive"},
		{args: "state sensitive -json"},
		{args: "doctor -timeout=2s", env: s.connected(), exit: 1, prints: "HTTPS_PROXY"},
		{args: "doctor -timeout=2s -json", env: s.connected(), exit: 1, prints: "HTTPS_PROXY"},
		{args: "state pull"},
		{args: "query VARS -json", files: map[string]string{"all.tfquery.hcl": lists}, env: toStderr, prints: "list_complete"},
		{args: "query VARS -generate-config-out=found.tf", prints: "list.sim_thing.echo"},
		{args: "query VARS", exit: 1, prints: "stopped unexpectedly", deeds: crashes("ListResource", "panic")},
		{args: "providers schema -json", files: map[string]string{"all.tfquery.hcl": "", "found.tf": ""}},
		{args: "destroy VARS -auto-approve -json", env: toStderr, prints: "10 destroyed"},
	}
}

// lists has ephemeral values in the configurations of its lists. One repeats them in its results.
const lists = `list "sim_thing" "all" {
  include_resource = true
  config {
    hint = ephemeral.sim_secret.s.value
  }
}
list "sim_thing" "echo" {
  include_resource = true
  config {
    prefix  = var.by_env
    made_up = 2
  }
}
`

// connected is an environment with secrets in what doctor looks at: the token of a host, a proxy, and the
// log, which has all levels.
func (s *site) connected() []string {
	secret := s.values.env
	return append(toStderr[:len(toStderr):len(toStderr)], "TF_LOG=trace", "TF_TOKEN_registry_example_com="+secret, "HTTPS_PROXY="+(&url.URL{Scheme: "http", Host: "127.0.0.1:1", User: url.UserPassword("user", secret)}).String())
}

// changeSteps change what exists, by all commands that do.
func changeSteps(s *site) []step {
	return []step{
		{args: "apply TYPED -auto-approve -input=true -ephemeral-timeline=timeline.html -html=apply.html -markdown=apply.md", stdin: s.values.typed + "\n", prints: "10 added"},
		{args: "apply VARS -auto-approve -json -var trigger=2", env: toStderr, prints: "changed, 0 destroyed"},
		{args: "apply VARS -auto-approve -refresh-only", prints: "Apply complete"},
		{args: "refresh VARS"},
		{args: "state rm sim_slow.through"},
		{args: "import VARS sim_slow.through through-1", prints: "Import successful"},
		{args: "state mv sim_vault.v sim_vault.moved"},
		{args: "state mv sim_vault.moved sim_vault.v"},
		{args: "plan VARS -var trigger=2 -replace=sim_account.versioned", prints: "as requested"},
		{args: "taint sim_vault.v"},
		{args: "workspace new other"},
		{args: "workspace select default"},
		{args: "plan VARS -generate-config-out=generated.tf", files: map[string]string{"import.tf": "import {\n  to = sim_thing.taken\n  id = \"a-1\"\n}\n"}, prints: "generated.tf"},
		{args: "destroy VARS -auto-approve", files: map[string]string{"import.tf": "", "generated.tf": ""}, prints: "10 destroyed"},
	}
}

// failureSteps fail in all ways that leave the provider whole.
func failureSteps(s *site) []step {
	return []step{
		{args: "plan VARS -var by_option=refused-" + "x" + " -json", exit: 1, prints: "This value is refused"},
		{args: "plan VARS -var holds=false", exit: 1, prints: "precondition"},
		{args: "plan VARS -var holds=false -json", exit: 1, env: toStderr},
		{args: "plan VARS -var convert=true", exit: 1, prints: "Invalid function argument"},
		{args: `plan VARS -var wrong_type=["` + firstWord(s.values.auto) + `"]`, exit: 1, prints: "Invalid value for"},
		{args: "apply VARS -auto-approve -var fail=create -html=failed.html -markdown=failed.md", exit: 1, prints: "asked to fail"},
		{args: "apply VARS -auto-approve -var exit=7 -json-into=failed.jsonl", exit: 1, prints: "exit status 7"},
		{args: "apply VARS -auto-approve", prints: "Apply complete"},
		{args: "apply VARS -auto-approve -var remote=true", exit: 1, prints: "remote-exec provisioner error"},
		{args: "apply VARS -auto-approve -var trigger=2 -var fail=update-partial -json", exit: 1, prints: "asked to fail"},
		{args: "apply VARS -auto-approve -var trigger=3", exit: 1, prints: "invalid", deeds: `[{"rpc": "ApplyResourceChange", "type": "sim_vault", "do": "wrong-type"}]`},
		{args: "apply VARS -auto-approve -var trigger=4 -html=copied.html -markdown=copied.md", exit: 1, prints: "Provider copied a write-only value", guard: true, deeds: `[{"rpc": "ApplyResourceChange", "type": "sim_thing", "do": "echo-write-only"}]`},
		{args: "destroy VARS -auto-approve", prints: "Destroy complete"},
	}
}

// firstWord returns the part of a canary that needs no quotes.
func firstWord(canary string) string { return canary[:26] }

// crashes are rules by which the provider crashes in a call.
func crashes(rpc, do string) string {
	return fmt.Sprintf(`[{"rpc": %q, "do": %q, "when": "during", "code": 3}]`, rpc, do)
}

// crashSteps crash the provider in the calls that have ephemeral values in them.
func crashSteps(*site) []step {
	return []step{
		{args: "plan VARS", exit: 1, prints: "stopped unexpectedly", deeds: crashes("OpenEphemeralResource", "panic")},
		{args: "plan VARS -json", exit: 1, env: toStderr, deeds: crashes("ConfigureProvider", "exit")},
		{args: "apply VARS -auto-approve -html=crashed.html -markdown=crashed.md", exit: 1, prints: "stopped unexpectedly", deeds: crashes("ApplyResourceChange", "panic")},
		{args: "apply VARS -auto-approve", prints: "Apply complete"},
	}
}

// everyCrash crashes it in each call, in both ways.
func everyCrash(*site) []step {
	var out []step
	n := 0
	for _, do := range []string{"exit", "panic", "garbage", "rpc-error"} {
		for _, rpc := range []string{
			"ValidateProviderConfig", "ValidateResourceConfig", "ValidateEphemeralResourceConfig", "ConfigureProvider", "PlanResourceChange", "OpenEphemeralResource",
			"ApplyResourceChange", "CloseEphemeralResource", "ReadResource",
		} {
			n++
			if do == "garbage" && (rpc == "CloseEphemeralResource" || rpc == "ConfigureProvider" || rpc[:8] == "Validate") {
				continue // they answer no objects
			}
			out = append(out, step{args: fmt.Sprintf("apply VARS -auto-approve -var trigger=%d", n), exit: 1, deeds: crashes(rpc, do)})
			out = append(out, step{args: fmt.Sprintf("apply VARS -auto-approve -var trigger=%d", n), prints: "Apply complete"})
		}
	}
	return out
}

// signalSteps end applies in the middle.
func signalSteps(*site) []step {
	return []step{
		{args: "apply VARS -auto-approve -var delay=30s", exit: 1, prints: "nterrupt", signals: []syscall.Signal{syscall.SIGINT}},
		{args: "apply VARS -auto-approve -var delay=3s", exit: 1, signals: []syscall.Signal{syscall.SIGTERM}},
		{args: "apply VARS -auto-approve", prints: "Apply complete"},
		{args: "apply VARS -auto-approve -var trigger=2 -var delay=30s", exit: 1, signals: []syscall.Signal{syscall.SIGINT, syscall.SIGINT}},
		{args: "apply VARS -auto-approve -var trigger=3 -var delay=30s", exit: -1, signals: []syscall.Signal{syscall.SIGKILL}},
		{args: "state pull"},
		{args: "apply VARS -auto-approve -var trigger=4", prints: "Apply complete"},
		{args: "destroy VARS -auto-approve", prints: "Destroy complete"},
	}
}

// actionSteps plan and invoke actions with ephemeral configurations, which the provider repeats in its
// messages and errors.
func actionSteps(*site) []step {
	return []step{
		{args: "validate"},
		{args: "plan VARS -out=p -html=plan.html -markdown=plan.md", prints: "(ephemeral value)"},
		{args: "plan VARS -json", env: toStderr, prints: "planned_action_invocation"},
		{args: "show -json p"},
		{args: "apply VARS -json p", env: toStderr, prints: "action_progress"},
		{args: "apply VARS -auto-approve -var trigger=2 -html=applied.html -markdown=applied.md -ephemeral-timeline=timeline.html", prints: "Actions: 2 invoked"},
		{args: "apply VARS -auto-approve -var trigger=3 -var delay=true -html=failed.html -markdown=failed.md", exit: 1, prints: "is not a duration"},
		{args: "apply VARS -auto-approve -var trigger=4 -var delay=true -json", exit: 1, prints: "action_errored"},
		{args: "apply VARS -auto-approve -var trigger=5 -var fail=invoke", exit: 1, prints: "asked to fail"},
		{args: "apply VARS -auto-approve -var trigger=6", exit: 1, prints: "stopped unexpectedly", deeds: crashes("InvokeAction", "panic")},
		{args: "plan VARS -var trigger=7", exit: 1, prints: "stopped unexpectedly", deeds: crashes("PlanAction", "exit")},
		{args: "apply VARS -auto-approve -invoke=action.sim_note.all -invoke=action.sim_job.says -json-into=invoked.jsonl", prints: "Actions: 2 invoked"},
		{args: "state pull"},
		{args: "destroy VARS -auto-approve", prints: "Destroy complete"},
	}
}

// testSteps run tests that pass, fail and are ended.
func testSteps(*site) []step {
	return []step{
		{args: "test -filter=passes.tftest.hcl -verbose -coverage=coverage.html -junit-xml=passed.xml -markdown=passed.md", prints: "1 passed"},
		{args: "test -filter=fails.tftest.hcl -verbose -junit-xml=failed.xml -json-into=failed.jsonl", exit: 1, prints: "0 passed"},
		{args: "test -json -junit-xml=stream.xml -coverage", exit: 1, env: toStderr},
		{args: "test -filter=passes.tftest.hcl", exit: 1, deeds: `[{"rpc": "ApplyResourceChange", "type": "sim_thing", "action": "delete", "do": "error", "text": "no"}]`},
		{args: "test -cleanup"},
	}
}
