// Package compat names the engine that other programs take this one for: OpenTofu or Terraform, in a version.
//
// It may import base packages only. It must not know who asks: documents, constraints of modules, providers
// and services each say it in their own way.
package compat

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// Engine is an engine in a version. The zero value stands for no choice.
type Engine struct {
	Name    string // as sentences have it, such as "OpenTofu"
	Version string // such as "1.12.6" or "1.16.0-beta2"
}

// The names of engines.
const (
	OpenTofu  = "OpenTofu"
	Terraform = "Terraform"
)

// Version is the version of OpenTofu whose language and documents the program has.
const Version = "1.12.6"

// Default returns the engine of a program without a choice.
func Default() Engine { return Engine{OpenTofu, Version} }

// Variable is the environment variable with the choice of an engine, which takes precedence over files.
const Variable = "MAYFLY_COMPATIBILITY"

// choice matches a choice: the engine, and its version with two or three numbers and perhaps a pre-release.
var choice = pattern.New(`^(opentofu|terraform)-((?:0|[1-9][0-9]{0,5})\.(?:0|[1-9][0-9]{0,5}))(\.(?:0|[1-9][0-9]{0,5}))?(-[a-z]{1,9}[0-9]{0,9})?$`)

// Parse reads a choice, such as "terraform-1.16", "opentofu-1.12.6" or "terraform-1.16-alpha". Without a
// third number, the version is the first of its series. The error says which texts are valid.
func Parse(text string) (Engine, error) {
	m := choice().FindStringSubmatch(text)
	if m == nil {
		return Engine{}, fmt.Errorf("%q is not an engine and its version: write terraform-X.Y or opentofu-X.Y, with or without a third number and a pre-release, as in terraform-1.16, opentofu-1.12.6 or terraform-1.16.0-alpha", text)
	}
	e := Engine{Name: OpenTofu, Version: m[2] + cmp.Or(m[3], ".0") + m[4]}
	if m[1] == "terraform" {
		e.Name = Terraform
	}
	return e, nil
}

// OrDefault returns the engine, or the default one if there is no choice.
func (e Engine) OrDefault() Engine {
	if e == (Engine{}) {
		return Default()
	}
	return e
}

// String returns the engine in the form that Parse reads.
func (e Engine) String() string { return strings.ToLower(e.Name) + "-" + e.Version }
