package ssh

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"path"
	"strings"

	"github.com/pkg/sftp"
)

// The default paths of scripts, by platform.
const (
	unixScript    = "/tmp/terraform_%RAND%.sh"
	windowsScript = "C:/windows/temp/terraform_%RAND%.cmd"
)

// attempts is how often another name is tried if one is taken.
const attempts = 3

// RunScript uploads a script that only the user can read, runs it as Run does, and removes it whatever the
// outcome. If removing it fails, a line of output says so, since the script may contain secrets.
func (c *Client) RunScript(ctx, soft context.Context, script string, line func(string)) error {
	name, err := c.putScript(soft, script)
	if name != "" {
		defer func() {
			if err := c.remove(name); err != nil {
				line("The script could not be removed from the host: " + Public(err))
			}
		}()
	}
	if err != nil {
		return err
	}
	p, err := c.processFor(name)
	if err != nil {
		return err
	}
	return c.run(ctx, soft, p, line)
}

// putScript uploads the script with permissions for its owner only. It returns the name as soon as the file
// exists, even with an error.
func (c *Client) putScript(ctx context.Context, script string) (string, error) {
	f, err := c.files(ctx)
	if err != nil {
		return "", err
	}
	defer f.close()
	usual := unixScript
	if c.set.Windows {
		usual = windowsScript
	}
	pattern := c.remotePath(cmp.Or(c.set.ScriptPath, usual))
	var file *sftp.File
	var name string
	for range attempts {
		if name, err = fill(pattern); err != nil {
			return "", err
		}
		if name == pattern {
			_ = f.Remove(name) // a script of an earlier run, whose permissions must not be kept
		}
		// O_EXCL, so that an existing file or link never receives the script.
		if file, err = f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return "", f.failed(ctx, "the script could not be put on the host", name, err)
	}
	const ownerOnly = 0o700
	if !c.set.Windows { // before there is content to read
		err = f.Chmod(name, ownerOnly)
	}
	if err == nil {
		_, err = file.ReadFrom(strings.NewReader(script))
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return name, f.failed(ctx, "the script could not be put on the host", name, err)
	}
	return name, nil
}

// fill replaces %RAND% by random digits.
func fill(pattern string) (string, error) {
	const mark, digits = "%RAND%", 1e15
	for strings.Contains(pattern, mark) {
		n, err := rand.Int(rand.Reader, big.NewInt(digits))
		if err != nil {
			return "", err
		}
		pattern = strings.Replace(pattern, mark, n.String(), 1)
	}
	return pattern, nil
}

// processFor returns the process that runs the script. On Windows the name is used unquoted, because shells
// there quote differently.
func (c *Client) processFor(name string) (process, error) {
	if c.set.Windows {
		return process{command: name}, nil
	}
	if !strings.Contains(name, "/") {
		name = "./" + name // so that the search path is not used
	}
	return announced("'" + strings.ReplaceAll(name, "'", `'\''`) + "'")
}

// remove removes a script, with its own context: an interrupt must not leave it behind.
func (c *Client) remove(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	f, err := c.files(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.failed(ctx, "removing it failed", name, err)
	}
	return nil
}

// remotePath returns a path as the host's file server expects it: relative to the user's home, without
// shell abbreviations.
func (c *Client) remotePath(name string) string {
	if c.set.Windows {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	if name == "~" {
		return "."
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return path.Clean(strings.TrimLeft(rest, "/"))
	}
	return name
}
