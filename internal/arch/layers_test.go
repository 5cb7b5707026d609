package arch

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
)

// rule says what a package may import of this module, and why not more. A name that ends in "/..." stands for
// a package and all below it.
type rule struct {
	may []string
	why string
	// pure packages work on what they are given: they touch no file, process, socket or environment.
	pure bool
	// modules are the third-party modules that the package may import; nil for any, since dependencies are
	// few and reviewed anyway.
	modules []string
}

const (
	hcl       = "github.com/hashicorp/hcl/v2"
	cty       = "github.com/zclconf/go-cty"
	msgpack   = "github.com/vmihailenco/msgpack/v5"
	addresses = "github.com/opentofu/registry-address/v2"
	uuid      = "github.com/google/uuid"
	distance  = "github.com/agext/levenshtein"
)

// none are the third-party modules of a package that has no business with any.
var none = []string{}

// wing is a part of the house: packages that belong together. may are the other wings, and the single
// packages of wings, that its packages may import.
type wing struct {
	name  string
	may   []string
	why   string
	rules map[string]rule
}

// wings are the parts of the house, from the bottom up. Every package of the module has its rule in one. All
// but names, model, library and programs are directories below internal, and so is what other programs may
// not import of the model. The rules leave "internal/" out.
var wings = []wing{
	{"base", nil, "what serves any program must not know this one", baseRules},
	{"names", []string{"base"}, "addresses and diagnostics are everywhere: what they depended on, everything would", namesRules},
	{"values", []string{"base", "names"}, "what a value is does not depend on who made it, or on where it goes", valuesRules},
	{"model", []string{"base", "names", "values"}, "states, plans and events are data, whoever makes or reads them", modelRules},
	{"language", []string{"base", "names", "values", "model"}, "what a configuration says does not depend on who carries it out", languageRules},
	{"provider", []string{"base", "names", "values", "model"}, "how a provider is reached does not depend on what it is asked", providerRules},
	{"engine", []string{"base", "names", "values", "model", "language", "provider"}, "what is done does not depend on where its results are kept, or on who watches", engineRules},
	{"stores", []string{"base", "names", "values", "model", "language", "provider"}, "where something is kept does not depend on how it was made", storesRules},
	{"install", []string{"base", "names", "values", "model", "language"}, "packages are found and checked before anything of them is run", installRules},
	{"library", []string{"base", "names", "values", "model", "language", "provider", "engine", "stores", "install"}, "a program that uses the library has no terminal", libraryRules},
	{"show", []string{"base", "names", "values", "model", "language", "engine/explain", "library"}, "who shows a run has no hand in it", showRules},
	{"testing", []string{"programs"}, "test servers and tools must not share the mistakes of the code that they test", testingRules},
	{"programs", []string{"base", "names", "values", "model", "language", "provider", "engine", "stores", "install", "library", "show", "testing"}, "programs connect the rest", programsRules},
}

// internals are the directories below internal. A rule names the packages in them without "internal/".
var internals = []string{"base", "values", "model", "language", "provider", "engine", "stores", "install", "show", "testing", "arch", "mutate"}

// pathOf returns the path of a package below the root of the module.
func pathOf(name string) string {
	if first, _, _ := strings.Cut(name, "/"); slices.Contains(internals, first) {
		return "internal/" + name
	}
	return name
}

// rules are those of all wings by the path of the package, and inWing the names of the wings.
var rules, inWing = func() (map[string]rule, map[string]string) {
	out, in := map[string]rule{}, map[string]string{}
	for _, w := range wings {
		for name, r := range w.rules {
			var may []string
			for _, m := range r.may {
				may = append(may, pathOf(m))
			}
			r.may = may
			out[pathOf(name)], in[pathOf(name)] = r, w.name
		}
	}
	return out, in
}()

// exceptions are imports beyond the rules, by file. Each is needed: one that is not any more fails the test.
var exceptions = map[string]struct{ pkg, why string }{
	"internal/engine/object/seal.go": {"internal/provider/builtin", "arguments of terraform_data that other engines don't know stay out of the state while they are null"},
}

// hands are the packages of the standard library that reach beyond the process's memory.
var hands = []string{"os", "os/exec", "os/signal", "net", "net/http", "syscall", "io/ioutil"}

func TestLayers(t *testing.T) {
	seen, excused := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		seen[s.pkg] = true
		r, ok := rules[s.pkg]
		if !ok || s.test {
			continue
		}
		for _, bad := range r.breaches(s.imports()) {
			if exceptions[s.name].pkg == bad {
				excused[s.name] = true
				continue
			}
			t.Errorf("%s: package %s must not import %s: %s", s.name, s.pkg, bad, r.why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(exceptions)) {
		if !excused[name] {
			t.Errorf("%s does not import %s: the exception is needed no more", name, exceptions[name].pkg)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(seen)) {
		if _, ok := rules[pkg]; !ok {
			t.Errorf("package %s has no rule about what it may import: add one, with its reason, to the rules of its wing", pkg)
		}
	}
}

// TestWings checks what wings import of each other.
func TestWings(t *testing.T) {
	byName, used := map[string]wing{}, map[string]bool{}
	for i, w := range wings {
		byName[w.name] = w
		for _, m := range w.may {
			first, _, _ := strings.Cut(m, "/")
			if at := slices.IndexFunc(wings, func(w wing) bool { return w.name == first }); w.name != "testing" && (at < 0 || at >= i) {
				t.Errorf("wing %s: got %s among its imports, want only wings below it", w.name, m)
			}
		}
	}
	for _, s := range sources(t) {
		from := byName[inWing[s.pkg]]
		if s.test || from.name == "" {
			continue
		}
		for _, imported := range s.imports() {
			own, ok := strings.CutPrefix(imported+"/", module+"/")
			own = cmp.Or(strings.TrimSuffix(own, "/"), ".")
			if to := inWing[own]; ok && to != from.name {
				if !slices.Contains(from.may, to) && !slices.ContainsFunc(from.may, func(m string) bool { return own == pathOf(m) || strings.HasPrefix(own, pathOf(m)+"/") }) {
					t.Errorf("%s: wing %s must not import %s of wing %s: %s", s.name, from.name, own, to, from.why)
				}
				used[from.name+" "+to] = true
			}
		}
	}
	for _, w := range wings {
		for _, m := range w.may {
			if first, _, _ := strings.Cut(m, "/"); !used[w.name+" "+first] {
				t.Errorf("wing %s does not import %s: take it out of its row", w.name, m)
			}
		}
	}
}

// breaches returns the imports that the rule forbids.
func (r rule) breaches(imports []string) []string {
	var bad []string
	for _, path := range imports {
		if own, ok := strings.CutPrefix(path+"/", module+"/"); ok {
			if own = cmp.Or(strings.TrimSuffix(own, "/"), "."); !covered(r.may, own) {
				bad = append(bad, own)
			}
			continue
		}
		first, _, _ := strings.Cut(path, "/")
		switch {
		case !strings.Contains(first, "."): // the standard library
			if r.pure && slices.Contains(hands, path) {
				bad = append(bad, path)
			}
		case r.modules != nil && !slices.ContainsFunc(r.modules, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") }):
			bad = append(bad, path)
		}
	}
	return bad
}

// covered reports whether a list of rule names has the package.
func covered(may []string, pkg string) bool {
	return slices.ContainsFunc(may, func(m string) bool {
		base, tree := strings.CutSuffix(m, "...")
		return m == pkg || tree && (strings.HasPrefix(pkg, base) || pkg+"/" == base)
	})
}

// TestLayersPointDown takes the table itself to task: an allowed import must be of a package with a rule, and
// no two packages may allow each other.
func TestLayersPointDown(t *testing.T) {
	var visit func(pkg string, path []string)
	visit = func(pkg string, path []string) {
		if i := slices.Index(path, pkg); i >= 0 {
			t.Fatalf("the table allows a cycle: %s", strings.Join(append(path[i:], pkg), " → "))
		}
		for _, m := range rules[pkg].may {
			if strings.HasSuffix(m, "...") {
				continue
			}
			if _, ok := rules[m]; !ok {
				t.Errorf("the rule of %s allows %s, which has no rule", pkg, m)
			}
			visit(m, append(slices.Clone(path), pkg))
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(rules)) {
		visit(pkg, nil)
		if rules[pkg].why == "" {
			t.Errorf("the rule of %s has no reason", pkg)
		}
	}
}

func TestBreaches(t *testing.T) {
	r := rule{may: []string{"addr", "install/...", "."}, pure: true, modules: []string{cty}}
	imports := []string{
		"fmt", "os", "os/exec", module, module + "/addr", module + "/addr/x", module + "/install", module + "/install/lockfile", module + "/installer",
		cty + "/cty", cty + "-yaml", hcl,
	}
	want := []string{"os", "os/exec", "addr/x", "installer", cty + "-yaml", hcl}
	if got := r.breaches(imports); !slices.Equal(got, want) {
		t.Errorf("breaches: %q, want %q", got, want)
	}
}
