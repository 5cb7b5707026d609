// Package compat names the engine that other programs take this one for: OpenTofu or Terraform, in a version.
//
// It may import base packages only. It must not know who asks: documents, constraints of modules, providers
// and services each say it in their own way.
package compat

import (
	"fmt"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// Engine is an engine in a version. The zero value stands for no choice.
type Engine struct {
	Name    string // as sentences have it, such as "OpenTofu"
	Version string // such as "1.12.6"
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

// choice matches a choice: the engine, and its version with two or three numbers.
var choice = pattern.New(`^(opentofu|terraform)-((?:0|[1-9][0-9]{0,5})\.(?:0|[1-9][0-9]{0,5}))(\.(?:0|[1-9][0-9]{0,5}))?$`)

// Parse reads a choice, such as "terraform-1.16" or "opentofu-1.12.6". Without a third number, the version is
// the first release of its series. The error says which texts are valid.
func Parse(text string) (Engine, error) {
	m := choice().FindStringSubmatch(text)
	if m == nil {
		return Engine{}, fmt.Errorf("%q is not an engine and its version: write terraform-X.Y or opentofu-X.Y, with or without a third number, as in terraform-1.16 or opentofu-1.12.6", text)
	}
	e := Engine{Name: OpenTofu, Version: m[2] + m[3]}
	if m[1] == "terraform" {
		e.Name = Terraform
	}
	if m[3] == "" {
		e.Version += ".0"
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
