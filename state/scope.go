package state

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
)

// SubjectKind is a kind of Subject.
type SubjectKind string

// The kinds. Deposed objects belong to their instance.
const (
	WholeState   SubjectKind = "state"
	OneInstance  SubjectKind = "instance"  // whether it exists or not
	AllInstances SubjectKind = "resource"  // of a resource in one module instance, also ones to come
	AllWithin    SubjectKind = "within"    // of a block in all its module instances within one, also ones to come
	Dependents   SubjectKind = "dependent" // objects whose recorded dependencies have a block
	OneOutput    SubjectKind = "output"    // of the root module
	OneCheck     SubjectKind = "check"     // the results of the conditions of one block
)

// Subject is a part of a state that a run can claim. Addr is the address of the instance, resource or block,
// the name of the output, or the static address of a check; Within, of AllWithin only, is the address of a
// module instance, "" for the root module. It is comparable.
type Subject struct {
	Kind         SubjectKind
	Addr, Within string
}

// InstanceSubject returns the subject of one instance.
func InstanceSubject(a addr.Instance) Subject {
	return Subject{Kind: OneInstance, Addr: a.String()}
}

// Key returns the text that tells a subject from all others. It is "" for the whole state, and the address of
// an instance.
func (s Subject) Key() string {
	switch s.Kind {
	case WholeState:
		return ""
	case OneInstance:
		return s.Addr
	case AllWithin:
		if s.Within == "" {
			return "all " + s.Addr + " everywhere"
		}
		return "all " + s.Addr + " within " + s.Within
	case AllInstances:
		return "all " + s.Addr
	case Dependents:
		return "on " + s.Addr
	default:
		return string(s.Kind) + " " + s.Addr
	}
}

// DescribeKey returns words for the subject with a key.
func DescribeKey(key string) string {
	kind, rest, _ := strings.Cut(key, " ")
	switch {
	case key == "":
		return "the whole state"
	case kind == "all":
		return "the instances of " + strings.TrimSuffix(rest, " everywhere")
	case kind == "on":
		return "the dependents of " + rest
	case kind == string(OneOutput):
		return "output." + rest
	case kind == string(OneCheck):
		return "the result of " + rest
	}
	return key
}

// ClaimMode is the use that a run makes of a subject.
type ClaimMode string

// The modes. Two claims of different runs on one subject conflict unless both are Shared or both are Intent.
const (
	Shared    ClaimMode = "s" // a change was evaluated from it
	Intent    ClaimMode = "i" // the run changes a part of it
	Exclusive ClaimMode = "x" // the run changes it
)

// Claims are subjects with the modes in which a run claims them.
type Claims map[Subject]ClaimMode

// Add adds a claim. A subject that is wanted in two modes is claimed exclusively.
func (c Claims) Add(s Subject, m ClaimMode) {
	if has, ok := c[s]; ok && has != m {
		m = Exclusive
	}
	c[s] = m
}

// RowName names a row: the address of an instance and the key of a deposed object, or an output or a check.
// Unrecorded names a fact about an instance that has no row; it is "" for rows.
type RowName struct{ Address, Deposed, Unrecorded string }

// NameOf returns the name of the row of an object.
func NameOf(o addr.Object) RowName {
	return RowName{Address: o.Instance.String(), Deposed: string(o.Deposed)}
}

// FreedOperation names an operation that had not ended when its run was freed by force. It may have created,
// changed or destroyed the object.
func FreedOperation(instance, run string, id int64) RowName {
	return RowName{Address: instance, Unrecorded: fmt.Sprintf("operation %d of %s", id, run)}
}

// LateResult names a result that came after its run had lost its claims.
func LateResult(instance, run string, batch int64) RowName {
	return RowName{Address: instance, Unrecorded: fmt.Sprintf("result %d of %s", batch, run)}
}

// String returns the name for messages.
func (n RowName) String() string {
	if n.Deposed == "" {
		return n.Address
	}
	return fmt.Sprintf("%s (deposed object %s)", n.Address, n.Deposed)
}

// RowSet are rows with their versions. Where it matters only which rows there are, the versions are zero.
type RowSet map[RowName]Version

// Scope says which parts of a state a run changes and which it relies on.
type Scope struct {
	// Claims are claimed together, or none of them.
	Claims Claims
	// Optional are claimed one by one, where that conflicts with no claim of another run: for changes that a
	// later run makes as well. Each has one exclusive claim on an instance.
	Optional []Claims
	// Relied has the rows of subjects as they were read, with late results and freed operations. The run is
	// stale if a claimed one has other rows by now, or more of these.
	Relied map[Subject]RowSet
	// Moved has the new addresses of instances that the run moves, by the ones before.
	Moved map[string]string
	// Imported are the addresses of instances whose objects the run takes over as they are now.
	Imported []string
	// Left are the addresses of instances that the configuration doesn't declare and the run leaves in the
	// state: others are evaluated without them.
	Left []string
	// Hashes are made from the configuration of the run. Stored hashes that differ are removed, of blocks
	// that the run claims a part of.
	Hashes BlockHashes
	// Results has the units of outputs and checks that are claimed exclusively. They have records if the run
	// stores another result. The conditions of a resource belong to its instances, which have their own.
	Results map[Subject][]Finding
}

// Subject returns the instance that an optional claim is about.
func (c Claims) Subject() Subject {
	for s, m := range c {
		if s.Kind == OneInstance && m == Exclusive {
			return s
		}
	}
	return Subject{}
}

// OutputVersion returns a version that only outputs with the same content have; nil has the zero one.
func OutputVersion(o *Output) Version {
	if o == nil {
		return Version{}
	}
	var ty []byte
	if !o.Value.IsZero() {
		ty, _ = o.Value.Type().MarshalJSON() // a type that has no JSON form is in no state
	}
	return digest([]any{o.sensitive(), string(ty), o.Value.Packed()})
}

// CheckVersion returns a version that only check results with the same content have.
func CheckVersion(r CheckResult) Version {
	return digest(sortedChecks([]CheckResult{r}))
}

func digest(content any) (v Version) {
	b, err := json.Marshal(content)
	if err != nil {
		panic("state: a result cannot be encoded: " + err.Error()) // it has nothing but texts and bytes
	}
	sum := sha256.Sum256(b)
	copy(v[:], sum[:])
	return v
}

// Results returns the versions of all outputs and check results.
func (s *State) Results() map[Subject]Version {
	out := make(map[Subject]Version, len(s.Outputs)+len(s.Checks))
	for name, o := range s.Outputs {
		out[Subject{Kind: OneOutput, Addr: name}] = OutputVersion(o)
	}
	for _, r := range s.Checks {
		out[Subject{Kind: OneCheck, Addr: r.Config}] = CheckVersion(r)
	}
	return out
}

// ResultRow returns the row of an output or a check, if it is among the results of a state.
func ResultRow(of Subject, results map[Subject]Version) RowSet {
	out := RowSet{}
	if v, ok := results[of]; ok {
		out[RowName{Address: of.Addr}] = v
	}
	return out
}
