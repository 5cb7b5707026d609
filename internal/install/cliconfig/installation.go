package cliconfig

import (
	"net/url"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/internal/plainhcl"
)

var (
	installationSchema = schema("dev_overrides", "filesystem_mirror", "network_mirror", "oci_mirror", "direct")
	methodSchemas      = map[Kind]*hcl.BodySchema{
		FilesystemMirror: schema("path include exclude"),
		NetworkMirror:    schema("url include exclude download_retry_count"),
		OCIMirror:        schema("repository_template include exclude"),
		Direct:           schema("include exclude download_retry_count"),
	}
	templateVariables = []string{"hostname", "namespace", "type"}
)

// installation reads the provider_installation block, of all files at most one.
func (l *loader) installation(b *hcl.Block) {
	if first := l.config.Installation; first != nil {
		l.errorAt(b.DefRange, "Duplicate provider_installation block", "The provider installation methods were already configured at %s. Put all methods into one block.", diag.Place(first.Range))
		return
	}
	in := &Installation{DevOverrides: map[addr.Provider]string{}, Range: b.DefRange}
	l.config.Installation = in
	content, hd := b.Body.Content(installationSchema)
	diags := plainhcl.Blind(hd)
	for i := range diags {
		diags[i].Detail += " The installation methods are filesystem_mirror, network_mirror, oci_mirror and direct, and there may be a dev_overrides block beside them."
	}
	l.add(diags)
	if attr := content.Attributes["dev_overrides"]; attr != nil {
		l.devOverrides(attr, in.DevOverrides)
	}
	for _, mb := range content.Blocks {
		in.Methods = append(in.Methods, l.method(mb))
	}
}

// method reads an installation method. After an error it is incomplete, and the configuration is not used.
func (l *loader) method(b *hcl.Block) Method {
	m := Method{Kind: Kind(b.Type), Range: b.DefRange}
	earlier := len(l.diags)
	attrs := l.content(b.Body, methodSchemas[m.Kind]).Attributes
	if l.diags[earlier:].HasErrors() {
		return m // an argument that seems to be missing may be misspelled
	}
	m.Include = l.patterns(attrs["include"])
	m.Exclude = l.patterns(attrs["exclude"])
	l.number(attrs["download_retry_count"], &m.Retries)
	switch m.Kind {
	case FilesystemMirror:
		m.Path, _ = l.required(b, attrs, "path", "the directory that holds the providers")
	case NetworkMirror:
		if text, ok := l.required(b, attrs, "url", "the base address of the mirror"); ok {
			u, err := url.Parse(text)
			if err != nil || u.Scheme != "https" || u.Host == "" {
				l.errorAt(attrs["url"].Expr.Range(), "Invalid network mirror URL", "The address of a network mirror must be an absolute URL with the scheme https.")
			}
			m.URL = NewSecret(text)
		}
	case OCIMirror:
		m.RepositoryTemplate = l.template(b, attrs["repository_template"], m.Include)
	}
	return m
}

// required reads a string that a method needs. what describes it in errors.
func (l *loader) required(b *hcl.Block, attrs hcl.Attributes, name, what string) (string, bool) {
	if attrs[name] == nil {
		l.errorAt(b.DefRange, "Invalid provider installation method", "A %s block needs the argument %q: %s.", b.Type, name, what)
		return "", false
	}
	text, ok := l.text(attrs[name])
	if ok && text == "" {
		l.errorAt(attrs[name].Expr.Range(), "Invalid provider installation method", "The argument %q must not be empty: it is %s.", name, what)
		return "", false
	}
	return text, ok
}

// template decodes a repository template. It must distinguish all providers that the block is for:
// otherwise one provider's packages could be taken for another's.
func (l *loader) template(b *hcl.Block, attr *hcl.Attribute, include []Pattern) hcl.Expression {
	if attr == nil {
		l.errorAt(b.DefRange, "Invalid provider installation method",
			"An oci_mirror block needs the argument \"repository_template\", as in \"example.com/${namespace}/${type}\".")
		return nil
	}
	used := map[string]bool{}
	for _, t := range attr.Expr.Variables() {
		used[t.RootName()] = true
		if len(t) != 1 || !slices.Contains(templateVariables, t.RootName()) {
			l.errorAt(t.SourceRange(), "Invalid repository template", "A repository template can refer only to ${hostname}, ${namespace}, and ${type}.")
		}
	}
	for _, name := range templateVariables {
		if !used[name] && !same(include, name) {
			l.errorAt(attr.Expr.Range(), "Invalid repository template",
				"The repository template must contain ${%s}, unless all patterns of the argument \"include\" have the same %s.", name, name)
		}
	}
	return attr.Expr
}

// same reports whether patterns allow only one value for a part of an address. Nil patterns allow any
// provider, and an empty list none.
func same(include []Pattern, name string) bool {
	if include == nil {
		return false
	}
	seen := map[string]bool{}
	for _, x := range include {
		seen[map[string]string{"hostname": x.Host, "namespace": x.Namespace, "type": x.Type}[name]] = true
	}
	return len(seen) <= 1 && !seen[wildcard]
}

// patterns decodes an include or exclude argument. The result is nil only if the argument is absent: an
// empty list matches nothing.
func (l *loader) patterns(attr *hcl.Attribute) []Pattern {
	texts, ok := l.list(attr)
	if !ok {
		return nil
	}
	out := make([]Pattern, 0, len(texts))
	for _, text := range texts {
		x, err := parsePattern(text)
		if err != nil {
			l.errorAt(attr.Expr.Range(), "Invalid provider matching pattern", "%q is not a pattern for provider source addresses: %s.", text, err)
			continue
		}
		out = append(out, x)
	}
	return out
}

// devOverrides reads the directories of providers under development.
func (l *loader) devOverrides(attr *hcl.Attribute, to map[addr.Provider]string) {
	v, ok := l.value(attr)
	if !ok {
		return
	}
	if !v.Type().IsObjectType() {
		l.errorAt(attr.Expr.Range(), "Invalid dev_overrides", "A dev_overrides block has provider source addresses as names and directories as values.")
		return
	}
	for source, dir := range v.AsValueMap() {
		p, err := addr.ParseProvider(source)
		if err != nil {
			l.errorAt(attr.Range, "Invalid dev_overrides", "%q is not a provider source address such as \"hashicorp/random\".", source)
			continue
		}
		if dir.IsNull() || dir.Type() != cty.String || dir.AsString() == "" {
			l.errorAt(attr.Range, "Invalid dev_overrides", "The override of %s must be the path of the directory with its executable.", source)
			continue
		}
		to[p] = dir.AsString()
	}
}

// Location returns the method's location for messages, without credentials that may be in a URL.
func (m Method) Location() string {
	switch m.Kind {
	case FilesystemMirror:
		return "filesystem mirror " + m.Path
	case NetworkMirror:
		u, err := url.Parse(m.URL.Reveal())
		if err != nil {
			return "network mirror"
		}
		// The query, like the user part, may contain a key.
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		return "network mirror " + u.String()
	case OCIMirror:
		if m.Range == (hcl.Range{}) {
			return "OCI mirror"
		}
		return "OCI mirror configured at " + diag.Place(m.Range)
	}
	return "the provider's own registry"
}
