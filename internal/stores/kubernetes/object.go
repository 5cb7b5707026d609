//go:build !mayfly_no_kubernetes

package kubernetes

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// typeMeta names the type of a Kubernetes document.
type typeMeta struct {
	Kind       string `json:"kind,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
}

// metadata is the metadata of any object. Elements that make no difference here are kept as they are.
type metadata struct {
	Name                       string            `json:"name,omitempty"`
	GenerateName               string            `json:"generateName,omitempty"`
	Namespace                  string            `json:"namespace,omitempty"`
	SelfLink                   string            `json:"selfLink,omitempty"`
	UID                        string            `json:"uid,omitempty"`
	ResourceVersion            string            `json:"resourceVersion,omitempty"`
	Generation                 int64             `json:"generation,omitempty"`
	CreationTimestamp          string            `json:"creationTimestamp,omitempty"`
	DeletionTimestamp          string            `json:"deletionTimestamp,omitempty"`
	DeletionGracePeriodSeconds *int64            `json:"deletionGracePeriodSeconds,omitempty"`
	Labels                     map[string]string `json:"labels,omitempty"`
	Annotations                map[string]string `json:"annotations,omitempty"`
	OwnerReferences            json.RawMessage   `json:"ownerReferences,omitempty"`
	Finalizers                 []string          `json:"finalizers,omitempty"`
	ManagedFields              json.RawMessage   `json:"managedFields,omitempty"`
}

// object is a Secret or a Lease, with all that they have: an update replaces the whole object.
type object struct {
	typeMeta
	metadata `json:"metadata"`

	Immutable *bool             `json:"immutable,omitempty"`
	Type      string            `json:"type,omitempty"`
	Data      map[string][]byte `json:"data,omitempty"`
	Spec      map[string]any    `json:"spec,omitempty"`
}

// objectList is a page of a list of objects.
type objectList struct {
	typeMeta
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []object `json:"items"`
}

// deletion are the options of a request that removes an object.
type deletion struct {
	typeMeta
	Preconditions *preconditions `json:"preconditions,omitempty"`
}

type preconditions struct {
	ResourceVersion string `json:"resourceVersion"`
}

// status is an answer about a request, without an object.
type status struct {
	typeMeta
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Details struct {
		Name string `json:"name"`
	} `json:"details"`
}

// selector returns the query for objects with labels.
func selector(labels map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, name+"="+labels[name])
	}
	return strings.Join(all, ",")
}

// form is a rule of Kubernetes for names.
type form struct {
	max     int
	pattern func() *regexp.Regexp
	rule    string
}

var (
	labelValue = form{63, pattern.New(`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`), "letters, digits, \"-\", \"_\" and \".\", and begin and end with a letter or a digit"}
	label      = form{63, pattern.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`), "lowercase letters, digits and \"-\", and begin and end with a letter or a digit"}
	subdomain  = form{253, pattern.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`), "lowercase letters, digits, \"-\" and \".\", and begin and end with a letter or a digit"}
)

// check returns the mistake in a text; nil if it has the form.
func (f form) check(text string) error {
	switch {
	case len(text) > f.max:
		return fmt.Errorf("it is longer than %d characters", f.max)
	case !f.pattern().MatchString(text):
		return fmt.Errorf("it must consist of %s", f.rule)
	}
	return nil
}
