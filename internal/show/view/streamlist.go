package view

import (
	"encoding/json"
	"time"

	"github.com/mayfly-iac/mayfly/event"
)

// listMessage has the members of messages about lists.
type listMessage struct {
	Start    *listStart    `json:"list_start,omitempty"`
	Found    *listResult   `json:"list_resource_found,omitempty"`
	Complete *listComplete `json:"list_complete,omitempty"`
}

type listStart struct {
	Address      string          `json:"address"`
	ResourceType string          `json:"resource_type"`
	InputConfig  json.RawMessage `json:"input_config,omitempty"`
}

type listResult struct {
	Address         string          `json:"address"`
	DisplayName     string          `json:"display_name"`
	Identity        json.RawMessage `json:"identity"`
	IdentityVersion int64           `json:"identity_version"`
	ResourceType    string          `json:"resource_type"`
	ResourceObject  json.RawMessage `json:"resource_object,omitempty"`
	Config          string          `json:"config,omitempty"`
	ImportConfig    string          `json:"import_config,omitempty"`
}

type listComplete struct {
	Address      string `json:"address"`
	ResourceType string `json:"resource_type"`
	Total        int    `json:"total"`
}

// ListStarted implements event.ListObserver.
func (s *JSONStream) ListStarted(e event.ListStart) {
	at := e.List.String()
	s.write(streamLine{
		Message: at + ": Starting query...", Type: "list_start",
		listMessage: listMessage{Start: &listStart{at, e.List.Resource.Type, e.Config}},
	}, time.Time{})
}

// ListFound implements event.ListObserver. It returns false once a message could not be written.
func (s *JSONStream) ListFound(r *event.ListResult) bool {
	at := r.List.String()
	s.write(streamLine{Message: at + ": Result found", Type: "list_resource_found", listMessage: listMessage{Found: &listResult{
		Address: at, DisplayName: r.Name, Identity: r.Identity, IdentityVersion: r.IdentityVersion, ResourceType: r.List.Resource.Type,
		ResourceObject: r.Object, Config: r.Resource, ImportConfig: r.Import,
	}}}, time.Time{})
	return s.Err() == nil
}

// ListCompleted implements event.ListObserver.
func (s *JSONStream) ListCompleted(e event.ListEnd) {
	at := e.List.String()
	s.write(streamLine{
		Message: at + ": List complete", Type: "list_complete",
		listMessage: listMessage{Complete: &listComplete{at, e.List.Resource.Type, e.Results}},
	}, time.Time{})
}
