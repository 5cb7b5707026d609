package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/script"
)

// job is what a job of GitHub or GitLab runs.
type job struct {
	Steps []struct {
		Run string
		Env map[string]string
	}
	Script      []string
	AfterScript []string `yaml:"after_script"`
}

// commands returns the shell commands of a job, one script for each step. An expression of the host in the
// environment of a step is replaced by a variable that the test sets.
func (j job) commands() []string {
	expression := regexp.MustCompile(`\$\{\{ *([a-z.]+) *\}\}`)
	var out []string
	for _, step := range j.Steps {
		text := ""
		for name, value := range step.Env {
			value = expression.ReplaceAllStringFunc(value, func(e string) string {
				return "$" + strings.ReplaceAll(expression.FindStringSubmatch(e)[1], ".", "_")
			})
			text += fmt.Sprintf("export %s=\"%s\"\n", name, value)
		}
		if step.Run != "" {
			out = append(out, text+step.Run)
		}
	}
	for _, lines := range [][]string{j.Script, j.AfterScript} {
		if len(lines) > 0 {
			out = append(out, strings.Join(lines, "\n"))
		}
	}
	return out
}

// pipelines returns the jobs of the workflows in a document, by the name of their file.
func pipelines(t *testing.T, file string) map[string]map[string]job {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]job{}
	for _, m := range regexp.MustCompile("(?ms)^```yaml\n# (\\S+)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		var parts map[string]yaml.Node
		if err := yaml.Unmarshal([]byte(m[2]), &parts); err != nil {
			t.Fatalf("%s: %v", m[1], err)
		}
		jobs := map[string]job{}
		if within, ok := parts["jobs"]; ok {
			err = within.Decode(&jobs)
		} else {
			for _, name := range []string{"check", "plan", "apply"} {
				part, one := parts[name], job{}
				if err = part.Decode(&one); err != nil {
					break
				}
				jobs[name] = one
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", m[1], err)
		}
		out[m[1]] = jobs
	}
	return out
}

// TestPipelines runs the commands of the documented workflows, each job in a clone of a repository, as the
// hosts do: a pull request is commented on and changes nothing, what is merged is planned, and the plan is
// applied in another clone. The programs of the hosts only keep what they are given.
func TestPipelines(t *testing.T) {
	found := pipelines(t, filepath.Join("..", "..", "docs", "ci.md"))
	if len(found) != 2 {
		t.Fatalf("found the workflows %v, want those of two hosts", slices.Sorted(maps.Keys(found)))
	}
	dir := t.TempDir()
	for name, jobs := range found {
		sh := func(job string) string {
			commands := jobs[job].commands()
			if len(commands) == 0 {
				t.Fatalf("%s: the job %s runs nothing", name, job)
			}
			text := "git clone -q \"$WORK/bare\" \"$WORK/" + job + "\"\ncd \"$WORK/" + job + "\"\n"
			for _, c := range commands {
				text += "(\nset -eu\n" + c + "\n)\n"
			}
			return text
		}
		filetest.Write(t, filepath.Join(dir, regexp.MustCompile(`\W+`).ReplaceAllString(name, "_")+".txtar"), pipelineSetUp+
			"-- check.sh --\nset -eu\n"+sh("check")+
			"-- plan.sh --\nset -eu\n"+sh("plan")+
			"-- apply.sh --\nset -eu\n"+strings.Replace(sh("apply"), "/apply\"\n(", "/apply\"\ncp \"$WORK/plan/saved.plan\" .\n(", 1)+pipelineFiles)
	}
	script.Run(t, dir)
}

const pipelineSetUp = `
[!exec:git] skip 'git is needed'
env PATH=$WORK/bin${:}$PATH
env GITHUB_OUTPUT=$WORK/output
env GITHUB_STEP_SUMMARY=$WORK/summary
env github_token=t
env github_event_number=7
env CI_API_V4_URL=https://gitlab.example.com/api/v4
env CI_PROJECT_ID=1
env CI_MERGE_REQUEST_IID=7
env COMMENT_TOKEN=t
env TF_IN_AUTOMATION=true
env TF_INPUT=false
env TF_VAR_password=hunter2-correct-horse
env TF_VAR_shared=sensitive-and-shared
exec chmod +x bin/gh bin/curl
exec sh repository.sh
exec sh check.sh
grep '### Plan: 2 to create' comment
! exists state
exec sh plan.sh
! exists state
! exec grep -q sensitive-and-shared plan/saved.plan
exec sh apply.sh
exists state
nosecret hunter2-correct-horse
! exec grep -q sensitive-and-shared comment
# A plan that is older than the state is refused.
! exec sh again.sh
stderr 'Saved plan is stale'
`

const pipelineFiles = `
-- again.sh --
cd "$WORK/apply"
mayfly apply saved.plan
-- repository.sh --
set -eu
cd repository
git init -q .
git add -A
git -c user.name=a -c user.email=a@example.com commit -q -m first
git clone -q --bare . "$WORK/bare"
-- bin/gh --
#!/bin/sh
[ "$1 $2 $3" = "pr comment 7" ] && [ "$GH_TOKEN" = t ] || exit 1
for last; do :; done
cp "$last" "$WORK/comment"
-- bin/curl --
#!/bin/sh
for last; do :; done
[ "$last" = https://gitlab.example.com/api/v4/projects/1/merge_requests/7/notes ] || exit 1
cp plan.md "$WORK/comment"
-- repository/main.tf --
terraform {
  required_providers {
    keep = {
      source = "mayfly.dev/mayfly/keep"
    }
  }
  backend "local" {
    path = "../state"
  }
  encryption {
    key_provider "pbkdf2" "p" {
      passphrase    = "a passphrase that nobody uses"
      iterations    = 200000
      hash_function = "sha256"
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.p
    }
    plan {
      method = method.aes_gcm.m
    }
  }
}

variable "password" {
  ephemeral = true
}

variable "shared" {
  sensitive = true
}

resource "keep_secret" "s" {
  name             = "app/db"
  value_wo         = var.password
  value_wo_version = 1
}

resource "terraform_data" "t" {
  input = var.shared
}
-- repository/main.tftest.hcl --
run "plans" {
  command = plan
}
`
