package main

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestNote is how many characters the note of a run may have.
const longestNote = 500

// setNote sets the note of a run. It is shown on one line, so it must be one.
func (l *lockFlags) setNote(text string) error {
	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("the note must be one line of text")
	case utf8.RuneCountInString(text) > longestNote:
		return fmt.Errorf("the note must have at most %d characters", longestNote)
	}
	l.note = text
	return nil
}

// ciJob returns the URL of the job of a CI system that the program runs in; "" if there is none.
func ciJob(vars map[string]string) string {
	job := ""
	for _, name := range []string{"CI_JOB_URL", "BUILDKITE_BUILD_URL", "CIRCLE_BUILD_URL", "TRAVIS_BUILD_WEB_URL", "DRONE_BUILD_LINK", "BUILD_URL"} {
		if job == "" {
			job = vars[name]
		}
	}
	switch {
	case vars["GITHUB_RUN_ID"] != "":
		job = vars["GITHUB_SERVER_URL"] + "/" + vars["GITHUB_REPOSITORY"] + "/actions/runs/" + vars["GITHUB_RUN_ID"]
	case vars["BUILD_BUILDID"] != "":
		job = vars["SYSTEM_TEAMFOUNDATIONCOLLECTIONURI"] + url.PathEscape(vars["SYSTEM_TEAMPROJECT"]) + "/_build/results?buildId=" + url.QueryEscape(vars["BUILD_BUILDID"])
	case vars["BITBUCKET_BUILD_NUMBER"] != "":
		job = vars["BITBUCKET_GIT_HTTP_ORIGIN"] + "/pipelines/results/" + vars["BITBUCKET_BUILD_NUMBER"]
	}
	u, err := url.Parse(job)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	u.User = nil // which may be a credential
	return u.String()
}
