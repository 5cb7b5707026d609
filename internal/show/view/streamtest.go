package view

import (
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
)

// Test writes a message about tests.
func (s *JSONStream) Test(typ, text string, m TestMessage) {
	s.write(streamLine{Message: text, Type: typ, TestMessage: m}, time.Time{})
}

// TestDiagnostics writes the diagnostics of a run, or of a file if run is empty.
func (s *JSONStream) TestDiagnostics(file, run string, list diag.List, src document.Sources) {
	s.diagnostics(list, src, TestMessage{File: file, Run: run})
}
