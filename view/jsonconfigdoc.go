package view

import (
	"encoding/json"

	"github.com/mayfly-iac/mayfly/config"
)

// ConfigJSON returns the JSON document of a configuration, on one line: the part of that name in the document of a plan.
func ConfigJSON(tree *config.Tree, s ConfigSchemas) ([]byte, error) {
	return json.Marshal(configDocument(tree, s))
}
