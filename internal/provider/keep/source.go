package keep

import (
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

func fileSchema() *schema.Schema {
	return schemaOf("The content of a file, in memory only.", map[string]*schema.Attribute{
		"path":    {Type: cty.String, Required: true, Description: "The file, relative to the working directory."},
		"content": {Type: cty.String, Computed: true, Description: "The content, which must be text in UTF-8 of at most 1 MiB."},
	})
}

func environmentSchema() *schema.Schema {
	return schemaOf("The value of an environment variable, in memory only.", map[string]*schema.Attribute{
		"name":    {Type: cty.String, Required: true, Description: "The name of the variable."},
		"default": {Type: cty.String, Optional: true, Description: "The value if the variable is not set. Without it, that is an error."},
		"value":   {Type: cty.String, Computed: true, Description: "The value."},
	})
}

// readFile opens a keep_file.
func readFile(result map[string]cty.Value) diag.List {
	content, err := readText(text(result["path"]))
	if err != nil {
		return diag.List{attributeError("path", "File not read", fmt.Sprintf("The file of the argument path: %s. Its name isn't shown, since it may come from a secret.", err))}
	}
	result["content"] = cty.StringVal(content)
	return nil
}

// readText reads a file. Its errors do not name the file.
func readText(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", errors.New(safefile.Reason(err))
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, maxOutput+1))
	switch {
	case err != nil:
		return "", errors.New(safefile.Reason(err))
	case len(content) > maxOutput:
		return "", fmt.Errorf("it is larger than %d bytes", maxOutput)
	case !utf8.Valid(content):
		return "", errors.New("it is not text in UTF-8")
	}
	return string(content), nil
}

// readEnvironment opens a keep_environment.
func readEnvironment(result map[string]cty.Value) diag.List {
	name := text(result["name"])
	value, ok := os.LookupEnv(name)
	switch {
	case ok:
		result["value"] = cty.StringVal(value)
	case !result["default"].IsNull():
		result["value"] = result["default"]
	default:
		return diag.List{attributeError("name", "Environment variable not set", "There is no environment variable of the name that the argument name has. Set it, or give a default. The name isn't shown, since it may come from a secret.")}
	}
	return nil
}
