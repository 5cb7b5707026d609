package history

import (
	"encoding/json"
	"time"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

const formatVersion = "1.0"

// jsonRun is a run on a state.
type jsonRun struct {
	ID           string `json:"id"`
	Who          string `json:"who"`
	DatabaseUser string `json:"database_user,omitempty"`
	Command      string `json:"command"`
	Version      string `json:"version"`
	Note         string `json:"note,omitempty"`
	Job          string `json:"job,omitempty"`
}

func runOf(i store.LockInfo) jsonRun {
	return jsonRun{i.ID, i.Who, i.DatabaseUser, i.Command(), i.Version, i.Info, i.Job}
}

// runOrNull returns the run of an information; nil for none.
func runOrNull(i *store.LockInfo) *jsonRun {
	if i == nil {
		return nil
	}
	r := runOf(*i)
	return &r
}

// moment returns a time in the form of documents; nil for none.
func moment(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(time.RFC3339Nano)
	return &text
}

// RunsJSON returns the document of runs.
func RunsJSON(runs []store.PastRun) ([]byte, error) {
	type run struct {
		jsonRun
		Status  store.RunStatus `json:"status"`
		Began   *string         `json:"began"`
		Ended   *string         `json:"ended"`
		Changes int             `json:"changes"`
	}
	doc := struct {
		FormatVersion string `json:"format_version"`
		Runs          []run  `json:"runs"`
	}{formatVersion, []run{}}
	for _, r := range runs {
		doc.Runs = append(doc.Runs, run{runOf(r.Info), r.Status, moment(r.Began), moment(r.Ended), r.Changes})
	}
	return json.MarshalIndent(doc, "", "  ")
}

// VersionsJSON returns the document of the versions of an instance, an output or a check.
func VersionsJSON(address string, versions []store.ObjectVersion) ([]byte, error) {
	type version struct {
		Deposed string   `json:"deposed,omitempty"`
		From    *string  `json:"from"`
		By      *jsonRun `json:"by"`
		First   bool     `json:"first"`
		Until   *string  `json:"until"`
		Next    *jsonRun `json:"next"`
		Last    bool     `json:"last"`
	}
	doc := struct {
		FormatVersion string    `json:"format_version"`
		Address       string    `json:"address"`
		Versions      []version `json:"versions"`
	}{formatVersion, address, []version{}}
	for _, v := range versions {
		doc.Versions = append(doc.Versions, version{string(v.Object.Deposed), moment(v.From), runOrNull(v.By), v.First, moment(v.Until), runOrNull(v.Next), v.Last})
	}
	return json.MarshalIndent(doc, "", "  ")
}

// modes are the names of modes of claims in documents.
var modes = map[state.ClaimMode]string{state.Exclusive: "exclusive", state.Intent: "intent", state.Shared: "shared"}

// ActiveJSON returns the document of runs that have claims or wait for some.
func ActiveJSON(runs []store.ActiveRun) ([]byte, error) {
	type claim struct {
		Subject string `json:"subject"`
		Mode    string `json:"mode"`
	}
	type operation struct {
		Address string  `json:"address"`
		Deposed string  `json:"deposed,omitempty"`
		Action  string  `json:"action"`
		Since   *string `json:"since"`
	}
	type opening struct {
		Address string  `json:"address"`
		Since   *string `json:"since"`
	}
	type run struct {
		jsonRun
		Status     store.RunStatus `json:"status"`
		Began      *string         `json:"began"`
		LeaseUntil *string         `json:"lease_until"`
		Claims     []claim         `json:"claims"`
		Operations []operation     `json:"operations"`
		Openings   []opening       `json:"openings"`
	}
	doc := struct {
		FormatVersion string `json:"format_version"`
		Runs          []run  `json:"runs"`
	}{formatVersion, []run{}}
	for _, r := range runs {
		out := run{runOf(r.Info), r.Status, moment(r.Began), moment(r.LeaseUntil), []claim{}, []operation{}, []opening{}}
		for _, c := range r.Claims {
			out.Claims = append(out.Claims, claim{c.Subject, modes[c.Mode]})
		}
		for _, o := range r.Operations {
			out.Operations = append(out.Operations, operation{o.Object.Instance.String(), string(o.Object.Deposed), o.Action, moment(o.Since)})
		}
		for _, o := range r.Openings {
			out.Openings = append(out.Openings, opening{o.Instance, moment(o.Since)})
		}
		doc.Runs = append(doc.Runs, out)
	}
	return json.MarshalIndent(doc, "", "  ")
}
