package verdicts

import (
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/show/view/report"
	"github.com/mayfly-iac/mayfly/suite"
)

// Rows returns the outcomes of files for a report: a row for each file, then one for each of its runs.
// Diagnostics have the source lines from sources.
func Rows(files []*suite.File, sources document.Sources) []report.Test {
	var out []report.Test
	text := func(list diag.List) string {
		var sb strings.Builder
		if len(list) > 0 {
			_ = view.Diagnostics(&sb, list, sources, view.Options{}) // memory takes all
		}
		return strings.Trim(sb.String(), "\n")
	}
	for _, f := range files {
		left := text(f.Cleanup)
		if _, lines := objects(suite.LeftIn{Objects: f.Left}); lines != "" {
			left += "\n\nThese objects are left and need to be removed by hand:\n" + lines
		}
		if f.Interrupted != nil {
			left += "\n\nThe file was interrupted, and may not have been cleaned up."
		}
		out = append(out, report.Test{File: f.Name, Verdict: word(f.Verdict), Bad: f.Verdict >= suite.Fail, Text: strings.Trim(left, "\n")})
		for _, r := range f.Runs {
			took := ""
			if r.Duration > 0 {
				took = r.Duration.Round(time.Millisecond).String()
			}
			out = append(out, report.Test{File: f.Name, Run: r.Name, Verdict: word(r.Verdict), Bad: r.Verdict >= suite.Fail, Took: took, Text: text(r.Diags)})
		}
	}
	return out
}

// Counts returns how a suite ended, with the counts of its runs, as one sentence.
func Counts(s suite.Summary) string {
	text, counts := counted(s)
	return text + counts
}
