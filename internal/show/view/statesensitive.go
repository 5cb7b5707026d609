package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
)

// fewObjects is how many objects are named for an attribute.
const fewObjects = 3

// StateSensitive writes which attributes and outputs of a state are sensitive, by provider and type, and
// which arguments can replace them. It has no values. It fails if w fails.
func StateSensitive(w io.Writer, s *document.Sensitive, o Options) error {
	sw := &planWriter{writer: writer{o: o}}
	if s.Empty() {
		sw.para("Nothing in the state is sensitive, according to the providers' schemas and the configuration.")
		_, err := io.WriteString(w, sw.String())
		return err
	}
	if len(s.Attributes)+len(s.Outputs)+len(s.Unread) > 0 {
		sw.para("These parts of the state are sensitive. Anyone who can read the state has their values; if it is encrypted, anyone who can plan has them.")
		sw.WriteByte('\n')
	}
	provider, twins, computed := addr.Provider{}, false, false
	for t, attributes := range s.ByType() {
		if t.Provider != provider {
			provider = t.Provider
			fmt.Fprintf(sw, "%s\n", o.paint(bold, visible(provider.ForDisplay())))
		}
		kind := t.Type
		if t.Mode == addr.Data {
			kind = "data." + kind
		}
		fmt.Fprintf(sw, "  %s\n", visible(kind))
		for _, a := range attributes {
			fmt.Fprintf(sw, "    %s: %s%s\n", visible(a.Path), objectsText(a.Objects), notesText(a, slices.Contains(s.Unread, t)))
			twins, computed = twins || a.WriteOnly != "", computed || a.Computed
		}
		if names := nameable(attributes); len(names) > 0 {
			fmt.Fprintf(sw, "    to keep them out: lifecycle { ephemeral_attributes = [%s] }\n", strings.Join(names, ", "))
		}
		if slices.Contains(s.Unread, t) {
			sw.WriteString("    (according to the state alone: the provider's schema is not known, or does not fit)\n")
		}
	}
	if len(s.Outputs) > 0 {
		fmt.Fprintf(sw, "%s\n", o.paint(bold, "outputs"))
		for _, name := range s.Outputs {
			fmt.Fprintf(sw, "  %s\n", visible(name))
		}
	}
	if len(s.Withheld) > 0 {
		fmt.Fprintf(sw, "%s\n", o.paint(bold, "kept out of the state by ephemeral_attributes"))
		for _, a := range s.Withheld {
			fmt.Fprintf(sw, "  %s.%s: %s\n", visible(a.Type), visible(a.Path), objectsText(a.Objects))
		}
	}
	if twins {
		sw.WriteByte('\n')
		sw.para("A write-only argument is sent to the provider and not stored. Set it instead of the other one; its version says when it has changed.")
	}
	if computed {
		sw.WriteByte('\n')
		sw.para("A value that the provider computes exists only in the run that makes it, once ephemeral_attributes names it. Whatever uses it has to take it in that run: a write-only argument, or an argument that ephemeral_attributes names.")
	}
	_, err := io.WriteString(w, sw.String())
	return err
}

// nameable returns the attributes that ephemeral_attributes can name and that have no write-only variant,
// which would be better.
func nameable(attributes []document.SensitiveAttribute) []string {
	var names []string
	for _, a := range attributes {
		if (a.Argument || a.Computed) && a.WriteOnly == "" {
			names = append(names, visible(a.Path))
		}
	}
	return names
}

// objectsText names some of the objects.
func objectsText(objects []addr.Object) string {
	var names []string
	for _, o := range objects[:min(len(objects), fewObjects)] {
		names = append(names, visible(o.String()))
	}
	text := strings.Join(names, ", ")
	if more := len(objects) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// notesText says that the configuration makes an attribute sensitive, if the schema is known not to, and
// names the argument that can replace it.
func notesText(a document.SensitiveAttribute, unread bool) string {
	var notes []string
	if !a.BySchema && !unread {
		notes = append(notes, "as the configuration says")
	}
	if a.Computed {
		notes = append(notes, "computed")
	}
	if a.WriteOnly != "" {
		notes = append(notes, "write-only: "+visible(a.WriteOnly))
	}
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, "; ") + ")"
}
