package suite

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
)

// judge decides about a run by what its operations reported.
type judge struct {
	run       *config.TestRun
	tree      *config.Tree
	came      map[int]struct{} // expected failures that came
	unplanned bool             // planning failed

	problems, failures, undecided diag.List
}

// add adds diagnostics of an operation. Failures that the run expects are taken out; those of checks, which
// are warnings anywhere else, are errors of a test if it does not expect them.
func (j *judge) add(diags diag.List) {
	for _, d := range diags {
		if d.Address == "check."+checkName(j.run) {
			d.Address = ""
		}
		switch extra := d.Extra.(type) {
		case diag.Assertion:
			d.Severity = diag.Error
			if extra.Undecided {
				j.undecided = append(j.undecided, d)
			} else {
				j.failures = append(j.failures, d)
			}
			continue
		case diag.CheckWarning:
			if extra.Undecided {
				continue
			}
			if j.expected(j.checkOf(d.Address)) {
				continue
			}
			d.Severity = diag.Error
		case diag.Unmet:
			if j.expected(extra.Object) {
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
		if e.Object == object || e.Object == withoutKeys(object) {
			if j.came == nil {
				j.came = map[int]struct{}{}
			}
			j.came[i], found = struct{}{}, true
		}
	}
	return found
}

// checkOf returns the address of the check that a warning with the given address comes from: its own, or that
// of a block nested in it.
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

// withoutKeys returns an address without instance keys.
func withoutKeys(address string) string {
	t, err := addr.ParseTraversal(address)
	if err != nil {
		return address
	}
	var words []string
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			words = append(words, step.Name)
		case hcl.TraverseAttr:
			words = append(words, step.Name)
		}
	}
	return strings.Join(words, ".")
}

// finish adds what the run expected and did not come. It is called once everything was added.
func (j *judge) finish() {
	if len(j.came) > 0 && j.unplanned && !j.run.Plan && !j.problems.HasErrors() {
		for i := range j.came {
			e := j.run.Expected[i]
			j.problems = append(j.problems, diag.At(e.Range, "Expected failure while planning",
				"The condition of %s failed as expected, but already when planning, so that the apply of this run could not be carried out. To test only the plan, set command = plan.", e.Object)...)
		}
	}
	if j.problems.HasErrors() {
		return // that an assertion cannot be decided follows from these
	}
	j.problems = append(j.problems, j.undecided...)
	for i, e := range j.run.Expected {
		if _, came := j.came[i]; !came {
			j.failures = append(j.failures, diag.At(e.Range, "Missing expected failure", "The checkable object, %s, was expected to report an error but did not.", e.Object)...)
		}
	}
}

// list returns everything that speaks against the run: failures before problems.
func (j *judge) list() diag.List { return append(j.failures, j.problems...) }

// verdict returns the outcome. A problem outweighs a failure: the run could not be carried out as it was
// meant.
func (j *judge) verdict() Verdict {
	switch {
	case j.problems.HasErrors():
		return Error
	case j.failures.HasErrors():
		return Fail
	}
	return Pass
}
