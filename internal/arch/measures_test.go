package arch

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// maxPackageLines bounds a package: the lines of all its files but tests and generated code. A package of
// muchForPackage is named. The bound is far above, so that it does not decide where code goes: TestReceivers
// is the one that finds what does too much.
const maxPackageLines, muchForPackage = 9000, 6000

// bigPackage is the size from which the arrows that run back are listed.
const bigPackage = 4000

// measure is what is counted of one package, without tests and generated code.
type measure struct {
	pkg      string
	lines    int      // all of them
	comments int      // lines of comments of their own
	filled   int      // lines that are not blank
	arrows   int      // pairs of files where one uses what the other declares
	back     []string // those that run against the reading order
}

// TestShapeOfPackages holds packages to a size and prints what is measured of them: with -v, one line for
// each big package, and one for the module.
func TestShapeOfPackages(t *testing.T) {
	byPkg := map[string][]*source{}
	var lengths []int
	for _, s := range sources(t) {
		if s.test || s.generated {
			continue
		}
		byPkg[s.pkg] = append(byPkg[s.pkg], s)
		for _, f := range functions(s) {
			lengths = append(lengths, f.lines)
		}
	}
	all := measure{pkg: "the module"}
	t.Logf("%-16s %6s  %8s  %s", "package", "lines", "comments", "arrows between files, and those that run back")
	for _, pkg := range slices.Sorted(maps.Keys(byPkg)) {
		m := measurePackage(pkg, byPkg[pkg])
		all.lines, all.comments, all.filled = all.lines+m.lines, all.comments+m.comments, all.filled+m.filled
		all.arrows, all.back = all.arrows+m.arrows, append(all.back, m.back...)
		if m.lines > maxPackageLines {
			t.Errorf("package %s has %d lines, more than %d: take out what has a name of its own", pkg, m.lines, maxPackageLines)
		}
		if m.lines > muchForPackage {
			t.Logf("package %s has %d lines: is there something in it with a name of its own?", pkg, m.lines)
		}
		if m.lines >= bigPackage/4 {
			t.Log(m)
		}
		if m.lines >= bigPackage {
			t.Log("  back:", strings.Join(m.back, ", "))
		}
	}
	t.Log(all)
	slices.Sort(lengths)
	at := func(percent int) int { return lengths[(len(lengths)-1)*percent/100] }
	t.Logf("%d functions: half of them have at most %d lines, 90 %% at most %d, 99 %% at most %d, all at most %d",
		len(lengths), at(50), at(90), at(99), at(100))
}

// String formats a measure as a line of the table.
func (m measure) String() string {
	return fmt.Sprintf("%-16s %6d  %6.1f %%  %d, %d (%.1f %%)", m.pkg, m.lines, share(m.comments, m.filled), m.arrows, len(m.back), share(len(m.back), m.arrows))
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

func measurePackage(pkg string, files []*source) measure {
	m := measure{pkg: pkg}
	for _, s := range files {
		m.lines += s.lines
		m.filled += s.lines - s.blank
		m.comments += commentLines(s)
	}
	m.arrows, m.back = arrowsOf(files)
	return m
}

// commentLines counts the lines of a file that have a comment and nothing else.
func commentLines(s *source) int {
	n := 0
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			from, to := s.set.Position(c.Pos()), s.set.Position(c.End())
			if s.ownLine[from.Line] {
				n += to.Line - from.Line + 1
			}
		}
	}
	return n
}

// arrowsOf counts the pairs of files where the first uses a name that the second declares, and returns
// those that run back when the files are read in the order that has the fewest of them.
func arrowsOf(files []*source) (all int, back []string) {
	uses := arrows(files)
	order := readingOrder(uses)
	for i, later := range order {
		all += len(uses[later])
		for _, earlier := range order[:i] {
			if uses[later][earlier] {
				back = append(back, path.Base(files[later].name)+" uses "+path.Base(files[earlier].name))
			}
		}
	}
	return all, back
}

// arrows returns for each file the others whose declarations it uses. Imported packages are left open, so
// what reaches a file through them alone is not seen.
func arrows(files []*source) []map[int]bool {
	set := files[0].set
	index := map[string]int{}
	var parsed []*ast.File
	for i, s := range files {
		index[s.name] = i
		parsed = append(parsed, s.file)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	check := types.Config{Importer: unknownPackages{}, Error: func(error) {}}
	_, _ = check.Check(files[0].pkg, set, parsed, &info) // with errors, since nothing imported is known
	out := make([]map[int]bool, len(files))
	for i := range out {
		out[i] = map[int]bool{}
	}
	for id, object := range info.Uses {
		if !object.Pos().IsValid() {
			continue
		}
		from, to := index[set.Position(id.Pos()).Filename], index[set.Position(object.Pos()).Filename]
		if from != to {
			out[from][to] = true
		}
	}
	return out
}

// unknownPackages imports every package as one of which nothing is known.
type unknownPackages struct{}

func (unknownPackages) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// readingOrder returns the files from those that use others to those that are used, with few arrows that run
// back: a greedy order, after which each file moves to its best place until none does.
func readingOrder(uses []map[int]bool) []int {
	n := len(uses)
	weight := make([][]int, n) // +1: i uses j, so i is read first; -1: j uses i
	for i := range weight {
		weight[i] = make([]int, n)
	}
	for i, to := range uses {
		for j := range to {
			weight[i][j]++
			weight[j][i]--
		}
	}
	order := make([]int, n)
	degree := make([]int, n)
	for i := range order {
		order[i] = i
		for _, w := range weight[i] {
			degree[i] += w
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(degree[b], degree[a]) })
	for improve(order, weight) {
	}
	return order
}

// improve moves each file to where it has the fewest arrows against it, and reports whether one moved.
func improve(order []int, weight [][]int) bool {
	moved := false
	for f := range weight {
		from := slices.Index(order, f)
		best, to, gain := 0, from, 0
		for i := from - 1; i >= 0; i-- { // before order[i]: f first, which is good if f uses it
			if gain += weight[f][order[i]]; gain > best {
				best, to = gain, i
			}
		}
		gain = 0
		for i := from + 1; i < len(order); i++ {
			if gain -= weight[f][order[i]]; gain > best {
				best, to = gain, i
			}
		}
		if to != from {
			order = slices.Insert(slices.Delete(order, from, from+1), to, f)
			moved = true
		}
	}
	return moved
}

func TestReadingOrder(t *testing.T) {
	for _, c := range []struct {
		uses string // "ab" says that a uses b
		back int
	}{
		{"", 0},
		{"ab bc ac", 0},
		{"cb ba ca", 0},
		{"ab bc ca", 1},
		{"ab ba bc cb", 2},
		{"ab ac ad bc bd cd da", 1},
	} {
		uses := make([]map[int]bool, 4)
		for i := range uses {
			uses[i] = map[int]bool{}
		}
		for _, pair := range strings.Fields(c.uses) {
			uses[pair[0]-'a'][int(pair[1]-'a')] = true
		}
		order := readingOrder(uses)
		back := 0
		for i, later := range order {
			for _, earlier := range order[:i] {
				if uses[later][earlier] {
					back++
				}
			}
		}
		if back != c.back {
			t.Errorf("%q: %d arrows run back in the order %v, want %d", c.uses, back, order, c.back)
		}
	}
}
