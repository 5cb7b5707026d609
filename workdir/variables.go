package workdir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// Setting gives values to variables: name=value, or the name of a file with values.
type Setting struct {
	File bool
	Text string
}

// candidate is a value for a variable from one of the routes; only the last one is converted.
type candidate func(v *config.Variable) (cty.Value, diag.List)

// Variables has the values that are given to the variables of the root module. It belongs to one goroutine.
type Variables struct {
	dir *Dir
	// answers are the Asker's answers. They are needed again when the configuration is loaded anew.
	answers map[string]candidate
}

// inputs are the values that the routes give to the variables of a root module.
type inputs struct {
	of         *Variables
	root       *config.Module
	candidates map[string]candidate
	// meant are variables that something that could not be understood seems to be for, and unread is set if
	// that is a whole file: they are not reported as missing besides.
	meant  map[string]bool
	unread bool
	// open takes values of variables that the root module does not declare: test files may refer to them.
	open bool
}

// gather reads all routes but the Asker, in order of rising precedence: the environment, the files that are
// read without being named, and the settings.
func (vs *Variables) gather(root *config.Module) (*inputs, diag.List) {
	return vs.gatherFrom(root, []string{"."}, vs.dir.opt.Testing)
}

// gatherFrom is gather with the directories of the files, in order of rising precedence. open says whether
// undeclared variables are taken too.
func (vs *Variables) gatherFrom(root *config.Module, dirs []string, open bool) (*inputs, diag.List) {
	in := &inputs{of: vs, root: root, candidates: map[string]candidate{}, meant: map[string]bool{}, open: open}
	for name := range root.Variables {
		if text, ok := vs.dir.files.vars["TF_VAR_"+name]; ok {
			in.candidates[name] = textCandidate(text, "the environment variable TF_VAR_"+name)
		}
	}
	maps.Copy(in.candidates, vs.answers)
	var diags diag.List
	for _, dir := range dirs {
		files, ds := (&config.Loader{}).AutoVarsFiles(dir)
		diags = append(diags, ds...)
		for _, file := range files {
			diags = append(diags, in.file(config.OSFS{}, file)...)
		}
	}
	for _, g := range vs.dir.opt.Settings {
		if g.File {
			diags = append(diags, in.file(config.OSFS{Pipes: true}, g.Text)...)
			continue
		}
		name, text, ok := strings.Cut(g.Text, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" { // reported here and not while options are read, because that would repeat the text, which may be a secret
			diags = append(diags, in.malformedOption(g.Text)...)
			continue
		}
		if root.Variables[name] == nil && !open {
			diags = append(diags, in.undeclaredOption(name)...)
			continue
		}
		in.candidates[name] = textCandidate(text, fmt.Sprintf("-var=\"%s=...\"", name))
	}
	return in, diags
}

// malformedOption reports a -var option that is not of its form. The text may be a secret, unless it begins
// with the name of a variable that is none.
func (in *inputs) malformedOption(text string) diag.List {
	name := text[:len(text)-len(strings.TrimLeftFunc(text, isNameCharacter))]
	v := in.root.Variables[name]
	if v != nil {
		in.meant[name] = true
	}
	if v == nil || v.Secret() {
		return diag.Errorf("Invalid -var option", "The -var option must be of the form -var=\"name=value\", but the value given has no equals sign after a name.")
	}
	return diag.Errorf("Invalid -var option", "The -var option must be of the form -var=\"name=value\", but %q has no equals sign after the name. Write for example: -var=\"%s=...\"", text, name)
}

func isNameCharacter(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func (in *inputs) undeclaredOption(name string) diag.List {
	advice := "Correct the name, or add a \"variable\" block."
	if near := diag.Nearest(name, slices.Sorted(maps.Keys(in.root.Variables))); near != "" {
		in.meant[near] = true
		advice = fmt.Sprintf("Did you mean %q?", near)
	}
	return diag.Errorf("Value for undeclared variable", "The command line sets a variable %q, which the root module does not declare. %s", name, advice)
}

func textCandidate(text, from string) candidate {
	return func(v *config.Variable) (cty.Value, diag.List) { return config.ParseVariableValue(v, text, from) }
}

// file takes the values that a file gives, over the values of files before it. Values are converted only when
// they are used, so that one that is overridden causes no error.
func (in *inputs) file(from config.FS, name string) diag.List {
	file, diags := config.LoadVarsFile(from, name, in.root.Variables)
	in.unread = in.unread || diags.HasErrors()
	for _, key := range slices.Sorted(maps.Keys(file.Values)) {
		val := file.Values[key]
		if in.root.Variables[key] == nil && !in.open {
			d := diag.Warnf("Value for undeclared variable",
				"The file %[2]q gives a value to the variable %[1]q, which the root module does not declare. Correct the name, or remove it. For values that several configurations share, use TF_VAR_ environment variables instead, which may name undeclared variables.", key, name)
			d[0].Subject = val.NameRange.Ptr()
			diags = append(diags, d...)
			continue
		}
		in.candidates[key] = func(v *config.Variable) (cty.Value, diag.List) {
			out, diags := val.Convert(v)
			return out, diags.WithSource(name, file.Source)
		}
	}
	return diags.WithSource(name, file.Source)
}

// unanswered reports that there is no value because asking for it failed.
func unanswered(ctx context.Context, v *config.Variable, err error) diag.List {
	const summary = "Error asking for input"
	if ctx.Err() != nil {
		return diag.Errorf(summary, "Interrupted before there was a value for var.%s. Nothing was changed.", v.Name)
	}
	return diag.Errorf(summary, "The value of var.%s could not be read: %s.", v.Name, err)
}

// values converts the values that the routes gave.
func (in *inputs) values() (mayfly.Variables, diag.List) {
	out := mayfly.Variables{}
	var diags diag.List
	for _, name := range slices.Sorted(maps.Keys(in.candidates)) {
		v, ds := in.candidates[name](in.root.Variables[name])
		diags = append(diags, ds...)
		if !ds.HasErrors() {
			out[name] = v
		}
	}
	return out, diags
}

// maxAnswers is how often a variable is asked for, if the answers are wrong.
const maxAnswers = 3

// complete asks for the variables named, or reports those without a value as missing. It adds the answers to
// values, and ends with the first one that stays wrong, so that the others are not given in vain. For the
// same reason, it asks nothing if a value that there is does not meet its validation rules.
func (in *inputs) complete(ctx context.Context, names []string, values mayfly.Variables, ask bool, missing func([]*config.Variable) diag.List) diag.List {
	var left []*config.Variable
	for _, name := range names {
		if in.candidates[name] == nil && !in.meant[name] && !in.unread {
			left = append(left, in.root.Variables[name])
		}
	}
	if len(left) == 0 {
		return nil
	}
	if !ask || in.of.dir.opt.Asker == nil {
		return missing(left)
	}
	if diags := in.unmet(ctx, slices.SortedFunc(maps.Values(in.root.Variables), byName)...); diags.HasErrors() {
		return append(diags, missing(left)...)
	}
	for i, v := range left {
		value, diags, err := in.ask(ctx, v)
		switch {
		case errors.Is(err, ErrNoAnswer):
			return missing(left[i:])
		case diags.HasErrors():
			return diags
		}
		values[v.Name] = value
	}
	return nil
}

// ask asks for a variable, again if the person at the terminal can correct the answer. It remembers the
// answer. An answer is wrong if it does not have the variable's type, or if it does not meet a validation
// rule that can be decided already. The error is nil or ErrNoAnswer.
func (in *inputs) ask(ctx context.Context, v *config.Variable) (cty.Value, diag.List, error) {
	for attempt := 1; ; attempt++ {
		text, err := in.of.dir.opt.Asker.Value(ctx, v)
		switch {
		case errors.Is(err, ErrNoAnswer):
			return cty.NilVal, nil, ErrNoAnswer
		case err != nil:
			return cty.NilVal, unanswered(ctx, v, err), nil
		}
		answer := textCandidate(text, "the prompt")
		value, diags := answer(v)
		if !diags.HasErrors() {
			in.candidates[v.Name] = answer
			if diags = in.unmet(ctx, v); !diags.HasErrors() {
				return value, nil, nil
			}
			delete(in.candidates, v.Name)
		}
		if attempt == maxAnswers || !in.of.dir.opt.Asker.Again(diags) {
			return cty.NilVal, diags, nil
		}
	}
}

// unmet reports the validation rules of the variables given that their values do not meet, as far as that can
// be decided with the values that there are.
func (in *inputs) unmet(ctx context.Context, vars ...*config.Variable) diag.List {
	opt := in.of.dir.staticOptions(ctx)
	opt.Variable = func(_ *config.Module, v *config.Variable) (cty.Value, diag.List) { return in.set(v) }
	var diags diag.List
	for _, v := range vars {
		diags = append(diags, mayfly.StaticUnmet(opt, in.root, v)...)
	}
	return diags
}

// required lists the variables without which nothing can be planned, ordered by name.
func (in *inputs) required() []string {
	var out []*config.Variable
	for _, v := range in.root.Variables {
		if v.Required() {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, byName)
	names := make([]string, len(out))
	for i, v := range out {
		names[i] = v.Name
	}
	return names
}

func byName(a, b *config.Variable) int { return strings.Compare(a.Name, b.Name) }

// missingValues reports every required variable without a value, in source order.
func missingValues(vars []*config.Variable) diag.List {
	slices.SortFunc(vars, func(a, b *config.Variable) int {
		return cmp.Or(strings.Compare(a.Range.Filename, b.Range.Filename), cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte))
	})
	var diags diag.List
	for _, v := range vars {
		diags = append(diags, diag.At(v.Range, "No value for required variable",
			"The variable %q of the root module needs a value, because it has no default. Set one with -var=\"%s=...\", in terraform.tfvars or a file for -var-file, or in the environment variable TF_VAR_%s.", v.Name, v.Name, v.Name)...)
	}
	return diags
}

// Read returns the values for a new plan of the loaded configuration. Required variables without a value are
// asked for or reported, unless explore is set, which leaves them unset. All errors are reported at once.
// After an error, nothing is asked for, since the answers would be lost.
func (vs *Variables) Read(ctx context.Context, explore bool) (mayfly.Variables, diag.List) {
	in, diags := vs.gather(vs.dir.tree.Root)
	values, ds := in.values()
	diags = append(diags, ds...)
	if !explore {
		diags = append(diags, in.complete(ctx, in.required(), values, !diags.HasErrors(), missingValues)...)
	}
	return values, diags
}
