package main

import (
	"strings"
	"testing"
)

// TestCIJob finds the page of the job in the variables of each system, without credentials.
func TestCIJob(t *testing.T) {
	for want, vars := range map[string]map[string]string{
		"":                                      {"CI_JOB_URL": "not a URL"},
		"https://gitlab.example/a/b/-/jobs/7":   {"CI_JOB_URL": "https://gitlab.example/a/b/-/jobs/7"},
		"https://github.com/a/b/actions/runs/9": {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "a/b", "GITHUB_RUN_ID": "9"},
		"https://jenkins.example/job/x/3/":      {"BUILD_URL": "https://user:secret@jenkins.example/job/x/3/"},
		"https://dev.azure.com/o/my%20p/_build/results?buildId=5": {"SYSTEM_TEAMFOUNDATIONCOLLECTIONURI": "https://dev.azure.com/o/", "SYSTEM_TEAMPROJECT": "my p", "BUILD_BUILDID": "5"},
		"https://bitbucket.org/a/b/pipelines/results/4":           {"BITBUCKET_GIT_HTTP_ORIGIN": "https://bitbucket.org/a/b", "BITBUCKET_BUILD_NUMBER": "4"},
	} {
		if got := ciJob(vars); got != want {
			t.Errorf("ciJob(%v): got %q, want %q", vars, got, want)
		}
	}
}

// TestRunNote refuses notes that are not a line of text.
func TestRunNote(t *testing.T) {
	for _, text := range []string{"a\nb", "\x1b[31m", "\xff", strings.Repeat("a", longestNote+1)} {
		if err := (&lockFlags{}).setNote(text); err == nil {
			t.Errorf("setNote(%q): got no error, want one", text)
		}
	}
	l := &lockFlags{}
	if err := l.setNote("upgrade for TICKET-12"); err != nil || l.note != "upgrade for TICKET-12" {
		t.Errorf("setNote: got %q and the error %v, want the note", l.note, err)
	}
}
