package remote

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

// The places of scripts, by platform.
const (
	unixScript    = "/tmp/terraform_%RAND%.sh"
	windowsScript = "C:/windows/temp/terraform_%RAND%.cmd"
)

const attempts = 3 // at finding a name that is free

// RunScript puts a script on the host, where nobody else can read it, runs it as Run does, and removes it
// whatever became of it. A script that could not be removed is told by a line of output, since it may have
// secrets.
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

// putScript uploads the script for its owner alone. It returns its name as soon as the file is there, also
// along with an error.
func (c *Client) putScript(ctx context.Context, script string) (string, error) {
	f, err := c.files(ctx)
	if err != nil {
		return "", err
	}
	defer f.close()
	pattern := cmp.Or(c.set.ScriptPath, map[bool]string{false: unixScript, true: windowsScript}[c.set.Windows])
	pattern = c.remotePath(pattern)
	var file *sftp.File
	var name string
	for range attempts {
		if name, err = fill(pattern); err != nil {
			return "", err
		}
		if name == pattern {
			_ = f.Remove(name) // a script of an earlier run, which must not keep its permissions
		}
		// Exclusive, so that no file or link that somebody has put there gets the script.
		if file, err = f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return "", f.failed(ctx, "the script could not be put on the host", name, err)
	}
	const ownerOnly = 0o700
	if !c.set.Windows { // before there is anything in it to read
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

// fill puts random digits in the place of %RAND%.
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

// processFor returns the process that runs the script. A shell of Windows takes the name as it is: each
// quotes differently.
func (c *Client) processFor(name string) (process, error) {
	if c.set.Windows {
		return process{command: name}, nil
	}
	if !strings.Contains(name, "/") {
		name = "./" + name // not something on the search path
	}
	return announced("'" + strings.ReplaceAll(name, "'", `'\''`) + "'")
}

// remove removes a script, on a context of its own: an interrupt is no reason to leave it.
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

// remotePath returns a path as the file server of the host understands it: it starts in the user's home, and
// knows no shell's abbreviations.
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
