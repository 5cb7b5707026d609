package document

import (
	"encoding/json"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/compat"
)

// Version returns the document of the version command, indented. platform is of the form os_arch;
// selections are the versions of installed providers.
func Version(v Versions, platform string, selections map[addr.Provider]string) ([]byte, error) {
	chosen := make(map[string]string, len(selections))
	for p, version := range selections {
		chosen[p.String()] = version
	}
	var outdated *bool // is in Terraform's document only, and nothing is looked up for it
	if v.Engine == compat.Terraform {
		outdated = new(bool)
	}
	return json.MarshalIndent(struct {
		Compat     string            `json:"terraform_version"`
		Product    string            `json:"mayfly_version,omitempty"`
		Platform   string            `json:"platform"`
		Outdated   *bool             `json:"terraform_outdated,omitempty"`
		Selections map[string]string `json:"provider_selections"`
	}{v.Compat, v.Product, platform, outdated, chosen}, "", "  ")
}
