package config

import (
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
)

// beforeCompatibleWith is a version that does not support compatible_with.
const beforeCompatibleWith = "1.11.0"

// engine returns the name of the engine whose version modules must be compatible with.
func (l *Loader) engine() string {
	if l.Terraform {
		return "Terraform"
	}
	return "OpenTofu"
}

// forTofu reports whether only OpenTofu and compatible programs read a file. In files that Terraform reads
// too, required_version is about Terraform.
func forTofu(filename string) bool {
	return strings.HasSuffix(filename, ".tofu") || strings.HasSuffix(filename, ".tofu.json")
}

// requireVersion decodes a constraint on the language version, and returns nil if there is none or it is
// invalid. All constraints of a module must be met, including those in override files and those they
// override.
func (d *settingsDecoder) requireVersion(attr *hcl.Attribute) *VersionConstraint {
	if attr == nil {
		return nil
	}
	c := d.constraint(attr)
	if c.Text == "" {
		return nil
	}
	parts, _ := version.NewConstraint(c.Text) // was parsed before
	for _, part := range parts {
		if part.Prerelease() {
			d.errorAt(c.Range, "Invalid required_version constraint",
				"%q names a pre-release, but constraints are compared with releases only: a pre-release counts as the release that it leads to. Remove the dash and what follows it.", strings.TrimSpace(part.String()))
			return nil
		}
	}
	d.m.RequiredVersions = append(d.m.RequiredVersions, c)
	return &c
}

// allows reports whether a version meets the constraint. A pre-release counts as its release. An invalid
// constraint allows nothing.
func (c VersionConstraint) allows(v string) bool {
	required, err := version.NewConstraint(c.Text)
	if err != nil {
		return false
	}
	given, err := version.NewVersion(v)
	return err == nil && required.Check(given.Core())
}

// incompatible reports each constraint of m that a version of an engine does not meet.
func (m *Module) incompatible(engine, v string) diag.List {
	var diags diag.List
	for _, c := range m.RequiredVersions {
		if c.allows(v) {
			continue
		}
		what := "This configuration"
		if !m.Path.IsRoot() {
			what = m.Path.String()
		}
		diags = append(diags, diag.At(c.Range, "Incompatible module",
			"%s requires a version of %s that is %s, but this program is compatible with version %s. Use a program that meets the constraint, or change the constraint if you know that the module works with this version.",
			what, engine, c.Text, v)...)
	}
	return diags
}
