package document

import "encoding/json"

// Workspaces returns Terraform's document with the workspaces, indented.
func Workspaces(names []string, current string) ([]byte, error) {
	type workspace struct {
		Name    string `json:"name"`
		Current bool   `json:"is_current"`
	}
	doc := struct {
		FormatVersion string      `json:"format_version"`
		Workspaces    []workspace `json:"workspaces"`
		Diagnostics   []struct{}  `json:"diagnostics"`
	}{"1.0", []workspace{}, []struct{}{}}
	for _, name := range names {
		doc.Workspaces = append(doc.Workspaces, workspace{name, name == current})
	}
	return json.MarshalIndent(doc, "", "  ")
}
