package view

import (
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
)

// Test writes a message about tests. One about objects left behind is an error.
func (s *JSONStream) Test(typ, text string, m TestMessage) {
	line := streamLine{Message: text, Type: typ, TestMessage: m}
	if m.Cleanup != nil || m.Interrupt != nil {
		line.Level = "error"
	}
	s.write(line, time.Time{})
}

// TestDiagnostics writes the diagnostics of a run, or of a file if run is empty.
func (s *JSONStream) TestDiagnostics(file, run string, list diag.List, src document.Sources) {
	s.diagnostics(list, src, TestMessage{File: file, Run: run})
}
