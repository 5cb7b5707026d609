package document

import (
	"encoding/json"

	"github.com/mayfly-iac/mayfly/addr"
)

// Version returns the document of the version command, indented. platform is of the form os_arch;
// selections are the versions of installed providers.
func Version(v Versions, platform string, selections map[addr.Provider]string) ([]byte, error) {
	chosen := make(map[string]string, len(selections))
	for p, version := range selections {
		chosen[p.String()] = version
	}
	return json.MarshalIndent(struct {
		Compat     string            `json:"terraform_version"`
		Product    string            `json:"mayfly_version,omitempty"`
		Platform   string            `json:"platform"`
		Selections map[string]string `json:"provider_selections"`
	}{v.Compat, v.Product, platform, chosen}, "", "  ")
}
