package corpus

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The verdicts of a record: of both, or of each.
const (
	bothOK    = "ok"
	bothFail  = "fails"
	oursFails = "ok, here fails"
	oursOK    = "fails, here ok"
)

// parseRecord returns the runs of a record, which has one section for each:
//
//	$ validate -json
//	fails
//	= main.tf:3: error: Unsupported argument     found by both, with OpenTofu's summary
//	- main.tf:5: error: Invalid value            found by OpenTofu alone
//	+ main.tf:2: error: No such argument         found here alone
//	? place                                      why they differ
//
// A section without a verdict was never recorded.
func parseRecord(text string) ([]*Run, error) {
	var out []*Run
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			out = append(out, &Run{Command: command})
			continue
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("%q comes before a command", line)
		}
		if err := out[len(out)-1].parseLine(line); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *Run) parseLine(line string) error {
	switch line {
	case bothOK, bothFail, oursFails, oursOK:
		r.Theirs.OK = line == bothOK || line == oursFails
		r.Ours.OK = line == bothOK || line == oursOK
		return nil
	}
	mark, rest, ok := strings.Cut(line, " ")
	switch {
	case ok && mark == "?":
		r.Reasons = append(r.Reasons, rest)
	case ok && (mark == "=" || mark == "-" || mark == "+"):
		if mark != "+" {
			r.Theirs.Lines = append(r.Theirs.Lines, rest)
		}
		if mark != "-" {
			r.Ours.Lines = append(r.Ours.Lines, rest)
		}
	default:
		return fmt.Errorf("%q is not a line of a record", line)
	}
	return nil
}

func formatRecord(runs []*Run) string {
	var b strings.Builder
	for _, r := range runs {
		verdict := map[[2]bool]string{{true, true}: bothOK, {false, false}: bothFail, {true, false}: oursFails, {false, true}: oursOK}
		fmt.Fprintf(&b, "$ %s\n%s\n", r.Command, verdict[[2]bool{r.Theirs.OK, r.Ours.OK}])
		ours := slices.Clone(r.Ours.Lines)
		for _, line := range r.Theirs.Lines {
			mark := "-"
			if i := slices.IndexFunc(ours, func(s string) bool { return place(s) == place(line) }); i >= 0 {
				ours = slices.Delete(ours, i, i+1)
				mark = "="
			}
			fmt.Fprintf(&b, "%s %s\n", mark, line)
		}
		for _, line := range ours {
			fmt.Fprintf(&b, "+ %s\n", line)
		}
		for _, why := range r.Reasons {
			fmt.Fprintf(&b, "? %s\n", why)
		}
	}
	return b.String()
}

// finding is the line of a diagnostic: file and line, severity, and summary.
var finding = regexp.MustCompile(`^(.*?: (?:error|warning)): `)

// place returns the part of a line by which findings are the same: all but the summary.
func place(line string) string {
	if m := finding.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return line
}

// Same reports whether two outcomes agree on the verdict and on the places of the findings.
func (o Outcome) Same(other Outcome) bool {
	return o.OK == other.OK && slices.Equal(places(o.Lines), places(other.Lines))
}

func places(lines []string) []string {
	var out []string
	for _, line := range lines {
		out = append(out, place(line))
	}
	slices.Sort(out)
	return out
}

// String returns the outcome as lines.
func (o Outcome) String() string {
	verdict := bothFail
	if o.OK {
		verdict = bothOK
	}
	return strings.Join(append([]string{verdict}, o.Lines...), "\n\t")
}

// Explain returns the gap in the explanation of the run's differences, or "" if there is none.
func (r *Run) Explain() string {
	for _, why := range r.Reasons {
		if reasons[why] == "" {
			return fmt.Sprintf("%q is not a reason", why)
		}
	}
	if same := r.Theirs.Same(r.Ours); same && len(r.Reasons) > 0 {
		return "there is a reason, but no difference"
	} else if !same && len(r.Reasons) == 0 {
		return "the engines differ without a reason"
	}
	return ""
}
