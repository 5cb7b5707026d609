package view_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/show/view"
)

// found is a result with everything.
var found = &event.ListResult{
	List: addr.Instance{Resource: addr.Resource{Mode: addr.List, Type: "x_y", Name: "z"}}, Name: "one\ntwo\x1b[2J", Identity: []byte(`{"id":"a"}`), IdentityText: "id=a",
	IdentityVersion: 3, Object: []byte(`{"id":"a","b":1}`), Resource: "resource {}", Import: "import {}",
}

// TestListMessages has a client read the messages about a list.
func TestListMessages(t *testing.T) {
	var out bytes.Buffer
	s := view.NewJSONStream(&out, time.Now)
	s.ListStarted(event.ListStart{List: found.List, Config: []byte(`{"a":null}`)})
	if !s.ListFound(found) {
		t.Error("the result was not written")
	}
	s.ListCompleted(event.ListEnd{List: found.List, Results: 1})
	for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		m, err := tfjson.UnmarshalLogMessage([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case tfjson.ListStartMessage:
			if _, ok := m.ListStart.InputConfig["a"]; i != 0 || !ok || m.ListStart.Address != "list.x_y.z" || m.ListStart.ResourceType != "x_y" {
				t.Errorf("start: got %+v, want it first, of list.x_y.z with its argument a", m.ListStart)
			}
		case tfjson.ListResourceFoundMessage:
			d := m.ListResourceFound
			if i != 1 || d.DisplayName != found.Name || d.Identity["id"] != "a" || d.IdentityVersion != 3 || d.ResourceObject["id"] != "a" || d.Config != found.Resource || d.ImportConfig != found.Import {
				t.Errorf("result: got %+v, want it second: %+v", d, found)
			}
		case tfjson.ListCompleteMessage:
			if i != 2 || m.ListComplete.Total != 1 {
				t.Errorf("end: got %+v, want it third, with one result", m.ListComplete)
			}
		default:
			t.Errorf("line %d is a %T", i, m)
		}
	}
}

// TestListResult shows that a result cannot take more than a line.
func TestListResult(t *testing.T) {
	var out bytes.Buffer
	if err := view.ListResult(&out, found, view.Options{}); err != nil {
		t.Fatal(err)
	}
	if want := "list.x_y.z   id=a   one\\ntwo\\x1b[2J\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
