package view

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

const (
	// foldAbove is how many changes that are alike are shown one by one. Plans without more of them look as
	// they do without folding.
	foldAbove = 10
	// fewKinds is up to how many different values of an attribute divide the changes that are alike into
	// kinds, each of which is shown. An attribute with more of them has a value for each instance, such as a
	// name.
	fewKinds = 4
	// maxNamed is how many attributes the line of a fold names.
	maxNamed = 8
)

// Fold is more than ten changes of instances of one block that are alike: the same is done for the same
// reason, the same attributes change, and values differ only where many of them do. The first is shown, and
// stands for the others.
type Fold struct {
	Changes  []*plan.Change // in the order of the plan
	Headline string         // the action on each
	Note     string         // which attributes force a replacement, and which differ
	whole    bool           // nothing is between the second and the last
}

// Line returns the line that stands for all changes but the first, without the note.
func (f *Fold) Line() string { return f.line(f.Headline) }

func (f *Fold) line(headline string) string {
	rest := f.Changes[1:]
	first, last := headingObject(rest[0]), headingObject(rest[len(rest)-1])
	if f.whole {
		return fmt.Sprintf("%d more like it, %s to %s: each %s", len(rest), first, last, headline)
	}
	return fmt.Sprintf("%d more like it, among %s to %s: each %s", len(rest), first, last, headline)
}

// foldKey is the same for all changes of one fold.
type foldKey struct {
	block     addr.ConfigResource
	action    plan.Action
	reason    plan.Reason
	deposed   bool
	from      string // the block that an object was moved from
	imported  bool
	generated bool
	forced    string
	shape     string
}

// foldClass is the changes with one key.
type foldClass struct {
	members []int // positions in the list of changes
	values  [][]uint64
	paths   []string
	forced  []string
}

// folds finds the folds in a list of changes. write writes the block of the change at a position, and may say
// that it is not shown. Blocks with few changes are not written, and the others are written once, so the cost
// is linear.
func (w *planWriter) folds(list []*plan.Change, write func(w *planWriter, i int) (shown bool, err error)) ([]*Fold, error) {
	var classes []*foldClass
	byKey, seed := map[foldKey]*foldClass{}, maphash.MakeSeed()
	for _, i := range manyAlike(list) {
		if len(w.triggered[list[i].Addr]) > 0 {
			continue // its actions are shown too
		}
		o := &outline{}
		part := &planWriter{writer: writer{outline: o}, plan: w.plan, schemas: w.schemas, differ: w.differ}
		switch shown, err := write(part, i); {
		case err != nil:
			return nil, err
		case !shown || o.warning:
			continue
		}
		key := keyOf(list[i])
		var values []uint64
		key.shape, values = o.split(part.String(), seed)
		class := byKey[key]
		if class == nil {
			class = &foldClass{paths: o.paths(), forced: forcing(list[i])}
			byKey[key] = class
			classes = append(classes, class)
		}
		class.members, class.values = append(class.members, i), append(class.values, values)
	}
	var out []*Fold
	for _, class := range classes {
		for _, part := range class.kinds() {
			if len(part.members) > foldAbove {
				out = append(out, part.fold(list))
			}
		}
	}
	return out, nil
}

// manyAlike returns the positions of the changes that may be in a fold: enough changes of their blocks have
// the same action. A change with a warning of its own, or moved from an address of its own, is never in one.
func manyAlike(list []*plan.Change) []int {
	type kind struct {
		block  addr.ConfigResource
		action plan.Action
	}
	counts := map[kind]int{}
	of := func(c *plan.Change) kind { return kind{c.Addr.Config(), c.Action} }
	for _, c := range list {
		counts[of(c)]++
	}
	var out []int
	for i, c := range list {
		switch {
		case counts[of(c)] <= foldAbove:
		case c.Moved() && (c.PrevAddr.Key != c.Addr.Key || c.PrevAddr.Module != c.Addr.Module):
		case c.Importing != nil && c.Action.DestroysReplaced():
		default:
			out = append(out, i)
		}
	}
	return out
}

// keyOf returns the key of a change, without its shape.
func keyOf(c *plan.Change) foldKey {
	key := foldKey{
		block: c.Addr.Config(), action: c.Action, reason: c.Reason, deposed: c.Deposed != addr.Current,
		imported: c.Importing != nil, generated: c.GeneratedConfig != "",
		forced: strings.Join(forcing(c), "\n"),
	}
	if c.Moved() {
		key.from = c.PrevAddr.Abs().Config().String()
	}
	return key
}

// forcing returns the names of the attributes that force the replacement of an object.
func forcing(c *plan.Change) []string {
	var out []string
	for _, p := range c.RequiredReplace {
		if len(p) > 0 {
			if key, ok := stepKey(p[0]); ok {
				out = append(out, strings.TrimPrefix(key, "."))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// kinds divides a class by the attributes with few different values, so that no object hides among others
// that are unlike it.
func (c *foldClass) kinds() []*foldClass {
	if len(c.members) <= foldAbove {
		return nil
	}
	var few []int
	for column := range c.paths {
		if n := c.variety(column, fewKinds+1); n > 1 && n <= fewKinds {
			few = append(few, column)
		}
	}
	var parts []*foldClass
	byKind := map[string]*foldClass{}
	for i, m := range c.members {
		var kind strings.Builder
		for _, column := range few {
			fmt.Fprintf(&kind, "%x ", c.values[i][column])
		}
		part := byKind[kind.String()]
		if part == nil {
			part = &foldClass{paths: c.paths, forced: c.forced}
			byKind[kind.String()] = part
			parts = append(parts, part)
		}
		part.members, part.values = append(part.members, m), append(part.values, c.values[i])
	}
	return parts
}

// variety returns how many different values a column has, at most limit.
func (c *foldClass) variety(column, limit int) int {
	seen := map[uint64]bool{}
	for _, values := range c.values {
		if seen[values[column]] = true; len(seen) == limit {
			break
		}
	}
	return len(seen)
}

// fold returns the fold of the changes of a class.
func (c *foldClass) fold(list []*plan.Change) *Fold {
	f := &Fold{whole: c.members[len(c.members)-1]-c.members[1] == len(c.members)-2}
	for _, m := range c.members {
		f.Changes = append(f.Changes, list[m])
	}
	var differ []string
	for column, path := range c.paths {
		if !slices.Contains(differ, path) && c.variety(column, 2) > 1 {
			differ = append(differ, path)
		}
	}
	if list[c.members[0]].Importing != nil {
		differ = append(differ, "what they are imported by")
	}
	f.Note = "apart from their addresses, they differ in nothing that is shown"
	if len(differ) > 0 {
		f.Note = "they differ in " + enumerate(differ)
	}
	if len(c.forced) > 0 {
		f.Note = "replacement is forced by " + enumerate(c.forced) + "; " + f.Note
	}
	return f
}

// enumerate returns names as a list in a sentence, without those after the first few.
func enumerate(names []string) string {
	if n := len(names) - maxNamed; n > 1 {
		return strings.Join(names[:maxNamed], ", ") + fmt.Sprintf(" and %d more", n)
	}
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " and " + names[n]
	}
	return names[0]
}

// foldLines writes the lines that stand for all changes of a fold but the first.
func (w *planWriter) foldLines(f *Fold, headline string) {
	w.WriteString(w.o.paint(bold, "  # ") + f.line(headline) + "\n  # (" + f.Note + "; -full shows each)\n\n")
}

// folded returns the folds by the change that stands for the others, and the changes that are not shown.
func folded(folds []*Fold) (first map[*plan.Change]*Fold, hidden map[*plan.Change]bool) {
	first, hidden = map[*plan.Change]*Fold{}, map[*plan.Change]bool{}
	for _, f := range folds {
		first[f.Changes[0]] = f
		for _, c := range f.Changes[1:] {
			hidden[c] = true
		}
	}
	return first, hidden
}

// foldedHeadline says how the plan changes each of the objects of a fold.
func (w *planWriter) foldedHeadline(c *plan.Change) string {
	if c.Action == plan.NoOp && c.Moved() {
		return "has moved to " + c.Addr.Config().String() + " under the same key"
	}
	return w.headline(c)
}

// foldChanges returns the folds of the planned changes, with headlines in the style of w.
func (w *planWriter) foldChanges() ([]*Fold, error) {
	folds, err := w.folds(w.plan.Changes, func(part *planWriter, i int) (bool, error) {
		if c := w.plan.Changes[i]; len(shownChanges([]*plan.Change{c})) == 0 {
			return false, nil
		}
		return true, part.body(w.plan.Changes[i])
	})
	for _, f := range folds {
		f.Headline = w.foldedHeadline(f.Changes[0])
	}
	return folds, err
}

// foldDrift returns the folds of changes made outside.
func (w *planWriter) foldDrift(shown []drifted) ([]*Fold, error) {
	list := make([]*plan.Change, len(shown))
	for i, d := range shown {
		list[i] = d.change
	}
	folds, err := w.folds(list, func(part *planWriter, i int) (bool, error) {
		part.driftBody(shown[i])
		return true, nil
	})
	for _, f := range folds {
		f.Headline = driftHeadline(f.Changes[0])
		if c := f.Changes[0]; c.Action == plan.NoOp && c.Moved() {
			f.Headline = w.foldedHeadline(c)
		}
	}
	return folds, err
}
