package view

import (
	"encoding/json"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/view/document"
)

// TestMessage is what a message about tests has in addition to a text.
type TestMessage struct {
	File     string              `json:"@testfile,omitempty"`
	Run      string              `json:"@testrun,omitempty"`
	Abstract map[string][]string `json:"test_abstract,omitempty"`
	OfFile   *TestStatus         `json:"test_file,omitempty"`
	OfRun    *TestStatus         `json:"test_run,omitempty"`
	Plan     json.RawMessage     `json:"test_plan,omitempty"`
	State    json.RawMessage     `json:"test_state,omitempty"`
	Cleanup  *TestCleanup        `json:"test_cleanup,omitempty"`
	Summary  *TestSummary        `json:"test_summary,omitempty"`
}

// TestStatus is the outcome of a file or a run.
type TestStatus struct {
	Path   string `json:"path"`
	Run    string `json:"run,omitempty"`
	Status string `json:"status"`
}

// TestCleanup lists the objects that could not be destroyed.
type TestCleanup struct {
	Failed []TestObject `json:"failed_resources"`
}

// TestObject is the address of an object.
type TestObject struct {
	Instance string `json:"instance"`
	Deposed  string `json:"deposed_key,omitempty"`
}

// TestSummary counts runs.
type TestSummary struct {
	Status  string `json:"status"`
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Errored int    `json:"errored"`
	Skipped int    `json:"skipped"`
}

// Test writes a message about tests.
func (s *JSONStream) Test(typ, text string, m TestMessage) {
	s.write(streamLine{Message: text, Type: typ, TestMessage: m}, time.Time{})
}

// TestDiagnostics writes the diagnostics of a run, or of a file if run is empty.
func (s *JSONStream) TestDiagnostics(file, run string, list diag.List, src document.Sources) {
	s.diagnostics(list, src, TestMessage{File: file, Run: run})
}
