package install

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
)

// findExecutable returns the path of the provider's program in a package's directory: the file
// "terraform-provider-TYPE", optionally followed by an underscore and any text, and on Windows with the
// suffix ".exe".
//
//	terraform-provider-random
//	terraform-provider-random_v3.7.2_x5
//	terraform-provider-random_v3.7.2.exe
func findExecutable(dir string, p addr.Provider) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	prefix := "terraform-provider-" + p.Type
	var found []string
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), prefix)
		rest = strings.TrimSuffix(rest, ".exe")
		if !ok || (rest != "" && rest[0] != '_') {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err == nil && info.Mode().IsRegular() {
			found = append(found, e.Name())
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("the package in %s has no file named %s* to run", dir, prefix)
	case 1:
		path := filepath.Join(dir, found[0])
		return path, checkExecutable(path)
	}
	return "", fmt.Errorf("the package in %s has several files that could be the provider: %s", dir, strings.Join(found, ", "))
}

// checkExecutable returns an error with advice if the file can't be run for lack of permission.
func checkExecutable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" && info.Mode()&fs.FileMode(0o111) == 0 {
		return fmt.Errorf("the file %s is not executable; correct it with chmod +x", path)
	}
	return nil
}
