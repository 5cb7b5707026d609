package report

import "cmp"

// Content is the collected content of a report, for other renderings. All texts are cleaned.
type Content struct {
	Title                string
	Where                string // the time and the program
	Directory, Workspace string
	Summary              string // the numbers of changes or of tests
	Ended                string // the outcome of the changes; "" if nothing was changed
	Banner               string // the warning above all else; "" for none
	Rounds               int    // how many plans there were
	Actions              int    // how many actions the changes trigger
	Rows                 []Row
	Folds                []string // a note about each fold; Row.Fold counts from 1
	Notes                []Note
	Outputs              string
	Tests                []Test
}

// Test is the outcome of a run of a test file, or of a whole file if Run is "".
type Test struct {
	File, Run string
	Verdict   string
	Bad       bool
	Took      string
	Text      string // diagnostics
}

// Content returns the content collected so far.
func (r *Report) Content() Content {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settle()
	if n := len(r.rounds); n > 0 {
		r.summary = r.rounds[n-1].summary
	}
	out := Content{
		Title: cmp.Or(r.title, "State"), Where: r.where, Directory: r.clean(r.Directory), Workspace: r.clean(r.Workspace), Summary: r.summary, Banner: r.banner,
		Rounds: len(r.rounds), Actions: r.actions, Rows: r.rows, Folds: r.folds, Notes: r.notes, Outputs: r.outputs, Tests: r.tests,
	}
	if r.applied {
		out.Ended = r.ended(0)
	}
	return out
}

// Tested adds the outcomes of test files. summary counts them. The page does not show them. Nothing is done
// if the report is nil.
func (r *Report) Tested(summary string, tests []Test) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summary = summary
	for _, t := range tests {
		t.File, t.Run, t.Text = r.clean(t.File), r.clean(t.Run), r.clean(t.Text)
		r.tests = append(r.tests, t)
	}
}
