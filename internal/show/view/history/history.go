// Package history shows the runs on a state and the versions of its objects, outputs and checks: as text, and
// as the JSON documents that docs/schemas describes.
//
// It may import addr, state, state/store and view. It must not know where a history is kept, and it has no
// values.
package history

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// shortID is how much of the ID of a run tables show. Commands accept the beginning of an ID.
const shortID = 8

func short(id string) string { return view.Visible(id[:min(len(id), shortID)]) }

// when returns a time as people read it.
func when(t time.Time) string { return t.Local().Format(time.DateTime) }

// remarks returns the note and the job of a run, in one text.
func remarks(i store.LockInfo) string {
	return view.Visible(strings.TrimSpace(i.Info + " " + i.Job))
}

// who returns who says to have begun a run, and the user of the database if that is not evidently the same.
func who(i store.LockInfo) string {
	name := i.Who
	if at := strings.LastIndexByte(name, '@'); at >= 0 {
		name = name[:at]
	}
	if i.DatabaseUser == "" || i.DatabaseUser == name {
		return view.Visible(i.Who)
	}
	return view.Visible(fmt.Sprintf("%s (database user %s)", i.Who, i.DatabaseUser))
}

// Runs writes a table of runs, the newest first. It fails if w fails.
func Runs(w io.Writer, runs []store.PastRun) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RUN\tBEGAN\tWHO\tCOMMAND\tCHANGES\tSTATUS\tNOTE")
	for _, r := range runs {
		line := fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%s\t%s", short(r.Info.ID), when(r.Began), who(r.Info), view.Visible(r.Info.Command()), r.Changes, r.Status, remarks(r.Info))
		fmt.Fprintln(t, strings.TrimRight(line, "\t"))
	}
	return t.Flush()
}

// event is a change of an object, an output or a check.
type event struct {
	object addr.Object // zero for an output or a check
	at     time.Time
	change string // "added", "changed" or "removed"
	by     *store.LockInfo
}

// events returns the changes between versions, the newest first.
func events(versions []store.ObjectVersion) (out []event) {
	for _, v := range versions {
		change := "changed"
		if v.First {
			change = "added"
		}
		out = append(out, event{v.Object, v.From, change, v.By})
		if v.Last {
			out = append(out, event{v.Object, v.Until, "removed", v.Next})
		}
	}
	slices.SortStableFunc(out, func(a, b event) int { return b.at.Compare(a.at) })
	return out
}

// Versions writes a table of the changes of the objects of an instance, of an output or of a check, the
// newest first. It fails if w fails.
func Versions(w io.Writer, versions []store.ObjectVersion) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	object := func(addr.Object) string { return "" }
	if len(versions) > 0 && versions[0].Object != (addr.Object{}) {
		object = func(o addr.Object) string { return cmp.Or(string(o.Deposed), "current") + "\t" }
		fmt.Fprintln(t, "WHEN\tCHANGE\tOBJECT\tRUN\tWHO\tCOMMAND\tNOTE")
	} else {
		fmt.Fprintln(t, "WHEN\tCHANGE\tRUN\tWHO\tCOMMAND\tNOTE")
	}
	for _, e := range events(versions) {
		by := store.LockInfo{ID: "unknown"}
		if e.by != nil {
			by = *e.by
		}
		line := fmt.Sprintf("%s\t%s\t%s%s\t%s\t%s\t%s", when(e.at), e.change, object(e.object), short(by.ID), who(by), view.Visible(by.Command()), remarks(by))
		fmt.Fprintln(t, strings.TrimRight(line, "\t"))
	}
	return t.Flush()
}

// claimsShown is how many claims of a kind the text of a run shows.
const claimsShown = 10

// Active writes who is doing something to a state, and the command that frees a run that has lapsed.
// It fails if w fails.
func Active(w io.Writer, runs []store.ActiveRun) error {
	var sb strings.Builder
	for i, r := range runs {
		if i > 0 {
			sb.WriteString("\n")
		}
		fmt.Fprintf(&sb, "%s (%s), run %s, %s\n", who(r.Info), view.Visible(r.Info.Command()), view.Visible(r.Info.ID), standing(r))
		if note := remarks(r.Info); note != "" {
			fmt.Fprintf(&sb, "  note: %s\n", note)
		}
		changes, relies := subjects(r.Claims)
		for _, part := range []struct {
			verb string
			list []string
		}{{"changes", changes}, {"relies on", relies}} {
			if len(part.list) > 0 {
				fmt.Fprintf(&sb, "  %s %s\n", part.verb, series(part.list))
			}
		}
		for _, o := range r.Operations {
			fmt.Fprintf(&sb, "  has begun at %s: %s (%s)\n", when(o.Since), view.Visible(o.Object.String()), view.Visible(o.Action))
		}
		for _, o := range r.Openings {
			fmt.Fprintf(&sb, "  has opened at %s: %s\n", when(o.Since), view.Visible(o.Instance))
		}
		if r.Status == store.RunLapsed && len(r.Operations) > 0 {
			fmt.Fprintf(&sb, "  The objects of these operations may still be changing, so they stay claimed. If you are sure that the run\n  does not run any more, free them:\n    mayfly force-unlock %s\n", view.Visible(r.Info.ID))
		}
	}
	_, err := io.WriteString(w, sb.String())
	return err
}

// standing says how a run stands, and since when.
func standing(r store.ActiveRun) string {
	switch {
	case r.Status == store.RunWaits:
		return "waits for its claims since " + when(r.Began)
	case r.Status == store.RunLapsed && len(r.Operations) == 0:
		return "began at " + when(r.Began) + ", no sign of life; its claims have lapsed at " + when(r.LeaseUntil) + " and are free: nothing has to be done"
	case r.Status == store.RunLapsed:
		return "began at " + when(r.Began) + ", no sign of life; its lease has lapsed at " + when(r.LeaseUntil)
	}
	return "runs since " + when(r.Began) + ", its lease lasts until " + when(r.LeaseUntil)
}

// subjects returns words for the parts of a state that a run changes, and that it relies on.
func subjects(claims []store.ActiveClaim) (changes, relies []string) {
	for _, c := range claims {
		switch c.Mode {
		case state.Exclusive:
			changes = append(changes, view.Visible(c.Subject))
		case state.Shared:
			relies = append(relies, view.Visible(c.Subject))
		}
	}
	return changes, relies
}

// series joins texts, of many the first ones.
func series(list []string) string {
	if more := len(list) - claimsShown; more > 0 {
		return strings.Join(list[:claimsShown], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(list, ", ")
}
