package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// judge decides about a run by the diagnostics of its operations.
type judge struct {
	run       *config.TestRun
	tree      *config.Tree
	computed  map[string]computedIn
	came      map[int]struct{} // expected failures that came
	early     diag.List        // expected failures that end a plan
	unplanned bool             // planning failed
	missed    bool             // an expected failure did not come

	problems, failures, undecided diag.List
}

// add adds diagnostics of an operation. Failures that the run expects are taken out; failures of checks,
// which are warnings anywhere else, are errors of a test if it does not expect them, also if a plan cannot
// decide the check.
func (j *judge) add(diags diag.List) {
	for _, d := range diags {
		if d.Address == "check."+checkName(j.run) {
			d.Address = ""
		}
		switch extra := d.Extra.(type) {
		case diag.Assertion:
			d.Severity = diag.Error
			if extra.Undecided {
				d.Detail += whereMade(extra.Unavailable, j.computed)
				j.undecided = append(j.undecided, d)
			} else {
				j.failures = append(j.failures, d)
			}
			continue
		case diag.CheckWarning:
			if j.expected(j.checkOf(d.Address)) {
				continue
			}
			d.Severity = diag.Error
		case diag.Unmet:
			if j.expected(extra.Object) {
				j.early = append(j.early, d)
				continue
			}
		}
		j.problems = append(j.problems, d)
	}
}

// expected reports whether the run expects a condition of an object to fail, and notes that it has.
func (j *judge) expected(object string) bool {
	found := false
	for i, e := range j.run.Expected {
		if covers(e.Object, object) {
			if j.came == nil {
				j.came = map[int]struct{}{}
			}
			j.came[i], found = struct{}{}, true
		}
	}
	return found
}

// checkOf returns the address of the check that a warning with the given address comes from: its own, or the
// address of a block nested in it.
func (j *judge) checkOf(address string) string {
	i, err := addr.ParseInstance(address)
	if err != nil {
		return address
	}
	m := j.tree.Modules[i.Module.Module()]
	if m == nil || m.Resources[i.Resource] == nil || m.Resources[i.Resource].Check == nil {
		return address
	}
	prefix := ""
	if !i.Module.IsRoot() {
		prefix = i.Module.String() + "."
	}
	return prefix + "check." + m.Resources[i.Resource].Check.Name
}

// covers reports whether an address means an object, or several objects that include it: without
// an instance key, it stands for all instances.
//
//	module.m.aws_instance.web covers module.m["a"].aws_instance.web[0]
func covers(address, object string) bool {
	several, err := addr.ParseTraversal(address)
	if err != nil {
		return false
	}
	one, err := addr.ParseTraversal(object)
	if err != nil {
		return false
	}
	for _, step := range one {
		key, isKey := step.(hcl.TraverseIndex)
		switch {
		case len(several) == 0:
			if !isKey {
				return false
			}
		case isKey:
			if want, ok := several[0].(hcl.TraverseIndex); ok {
				if !want.Key.RawEquals(key.Key) {
					return false
				}
				several = several[1:]
			}
		case addr.StepName(several[0]) != addr.StepName(step):
			return false
		default:
			several = several[1:]
		}
	}
	return len(several) == 0
}

// finish adds an error for each failure that the run expected and that did not come. It is called once
// everything was added.
func (j *judge) finish() {
	if j.unplanned && !j.run.Plan {
		j.problems = append(j.problems, j.tooEarly()...)
	}
	if j.problems.HasErrors() {
		return // that an assertion cannot be decided follows from these
	}
	j.problems = append(j.problems, j.undecided...)
	for i, e := range j.run.Expected {
		if _, came := j.came[i]; !came {
			j.missed = true
			j.failures = append(j.failures, diag.At(e.Range, "Missing expected failure", "The checkable object, %s, was expected to report an error but did not.", e.Object)...)
		}
	}
}

// tooEarly returns the expected failures that have kept the apply of the run from being carried out, and
// warnings that say of which entries they are and why the run has failed.
func (j *judge) tooEarly() diag.List {
	out := slices.Clone(j.early)
	for _, e := range j.run.Expected {
		if !slices.ContainsFunc(j.early, func(d diag.Diagnostic) bool { return covers(e.Object, d.Extra.(diag.Unmet).Object) }) {
			continue
		}
		summary := "Expected failure while planning"
		if strings.Contains("."+e.Object, ".var.") {
			summary = "Invalid Variable in test file" // the words that users of other engines know
		}
		out = append(out, diag.Diagnostic{
			Severity: diag.Warning, Summary: summary, Subject: e.Range.Ptr(),
			Detail: fmt.Sprintf("The condition of %s failed as expected, but already when planning, so that the apply of this run could not be carried out. To test only the plan, set command = plan.", e.Object),
		})
	}
	return out
}

// list returns everything that speaks against the run: failures before problems.
func (j *judge) list() diag.List { return append(j.failures, j.problems...) }

// verdict returns the outcome. A problem outweighs a failure: the run could not be carried out as it was
// meant. So it is if nothing was asserted but a failure that did not come.
func (j *judge) verdict() Verdict {
	switch {
	case j.problems.HasErrors(), j.missed && len(j.run.Asserts) == 0:
		return Error
	case j.failures.HasErrors():
		return Fail
	}
	return Pass
}
