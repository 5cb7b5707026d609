//go:build unix

package ssh

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// on is a configuration of one resource whose provisioners work on the server.
func on(t *testing.T, k *key, d *sshd, provisioners string) *site {
	t.Helper()
	s := newSite(t, "resource \"terraform_data\" \"x\" {\n  input = \"in\"\n"+connection(t, d, "private_key = file(\"given_key\")")+provisioners+"\n}")
	s.write("given_key", k.pem)
	return s
}

func TestScripts(t *testing.T) {
	t.Parallel()
	k := newKey(t)
	s := on(t, k, start(t, k, nil), `
provisioner "remote-exec" {
  inline = ["cd HOST", "false", "echo ${self.input} > inline", "ls -l $0"]
}
provisioner "remote-exec" {
  inline = ["#!/bin/cat", "not for a shell"]
}
provisioner "remote-exec" {
  script = "scripts/one.sh"
}
provisioner "remote-exec" {
  scripts = ["scripts/one.sh", "${path.cwd}/scripts/two.sh"]
}
provisioner "remote-exec" {
  scripts    = ["scripts/fails.sh", "scripts/two.sh"]
  on_failure = continue
}`)
	s.write("scripts/one.sh", "#!/bin/sh\necho one >> "+s.host+"/order\n")
	s.write("scripts/two.sh", "#!/bin/sh\necho two >> "+s.host+"/order; echo from two >&2\n")
	s.write("scripts/fails.sh", "#!/bin/sh\nexit 5\n")
	out := s.apply(0)
	s.says(out, "-rwx------", "not for a shell", "(remote-exec): from two",
		`Warning: remote-exec provisioner error`, `Error running the script "scripts/fails.sh": exit status 5`)
	if got := s.onHost("inline") + s.onHost("order"); got != "in\none\none\ntwo\n" {
		t.Errorf("on the host: got %q, want \"in\\none\\none\\ntwo\\n\"", got)
	}
	s.noScripts()
}

func TestFailingScript(t *testing.T) {
	t.Parallel()
	k := newKey(t)
	s := on(t, k, start(t, k, nil), `
provisioner "remote-exec" { inline = ["echo before", "exit 7"] }
provisioner "remote-exec" { inline = ["touch HOST/late"] }`)
	s.says(s.apply(1), "(remote-exec): before", "Error: remote-exec provisioner error", "Error running the inline script: exit status 7")
	if _, err := os.Stat(filepath.Join(s.host, "late")); err == nil {
		t.Error("the next provisioner was run")
	}
	s.noScripts()
	s.says(s.must("plan", "-no-color"), "terraform_data.x is tainted")
}

func TestFiles(t *testing.T) {
	t.Parallel()
	k := newKey(t)
	s := on(t, k, start(t, k, nil), `
provisioner "remote-exec" { inline = ["umask 022", "mkdir HOST/into HOST/flat"] }
provisioner "file" {
  content     = "made of ${self.input}"
  destination = "HOST/content"
}
provisioner "file" {
  source      = "src/tool.sh"
  destination = "HOST/into"
}
provisioner "file" {
  source      = "src"
  destination = "HOST/into"
}
provisioner "file" {
  source      = "src/"
  destination = "HOST/flat"
}
provisioner "file" {
  source      = "nowhere"
  destination = "HOST/x"
  on_failure  = continue
}
provisioner "file" {
  source      = "src/tool.sh"
  destination = "HOST/nowhere/x"
  on_failure  = continue
}`)
	s.write("src/tool.sh", "#!/bin/sh\n")
	s.write("src/sub/deep", "deep")
	out := s.apply(0)
	s.says(out, "the source could not be read: stat", "one more similar warning")
	// The server's umask would let the group write.
	want := `-rw-r--r-- content made of in
drwxr-xr-x flat
drwxr-xr-x flat/sub
-rw-r--r-- flat/sub/deep deep
-rw-r--r-- flat/tool.sh #!/bin/sh
drwxr-xr-x into
drwxr-xr-x into/src
drwxr-xr-x into/src/sub
-rw-r--r-- into/src/sub/deep deep
-rw-r--r-- into/src/tool.sh #!/bin/sh
-rw-r--r-- into/tool.sh #!/bin/sh
`
	var got strings.Builder
	err := filepath.WalkDir(s.host, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == s.host {
			return err
		}
		name, _ := filepath.Rel(s.host, path)
		info, err := d.Info()
		text := ""
		if !d.IsDir() {
			text = " " + strings.TrimSpace(s.onHost(name))
		}
		fmt.Fprintf(&got, "%s %s%s\n", info.Mode(), name, text)
		return err
	})
	if err != nil || got.String() != want {
		t.Errorf("on the host: got %q, %v, want %q", got.String(), err, want)
	}
}

// A connection of the provisioner's own overrides that of the resource, argument by argument, in JSON as
// well.
func TestJSON(t *testing.T) {
	t.Parallel()
	k := newKey(t)
	d := start(t, k, nil)
	s := newSite(t, "")
	s.write("more.tf.json", fmt.Sprintf(`{"resource": {"terraform_data": {"x": {
  "connection": {"host": "127.0.0.1", "port": 1, "user": %q, "timeout": "5s"},
  "provisioner": [
    {"file": {"content": "from JSON", "destination": "%[2]s/file", "connection": {"port": %[3]d, "private_key": "${file(\"given_key\")}"}}},
    {"remote-exec": {"inline": ["cat %[2]s/file"], "connection": {"port": "%[3]d", "private_key": "${file(\"given_key\")}"}}}
  ]
}}}}`, me(t), s.host, d.port))
	s.write("given_key", k.pem)
	s.says(s.apply(0), "(remote-exec): from JSON")
}

// The command has seconds to end, so nothing else of this package runs beside it.
func TestInterrupt(t *testing.T) {
	k := newKey(t)
	s := on(t, k, start(t, k, nil), `
provisioner "remote-exec" {
  inline = ["trap 'echo tidied > HOST/tidied; exit 1' INT", "touch HOST/begun", "while :; do sleep 0.1; done"]
}`)
	out, status := s.interrupted("begun")
	if status != 1 {
		t.Errorf("got exit status %d, want 1", status)
	}
	s.says(out, "remote-exec provisioner error", "interrupted: exit status 1")
	if got := s.onHost("tidied"); got != "tidied\n" {
		t.Errorf("on the host: got %q, want \"tidied\\n\", so that the command had a chance to end\n%s", got, out)
	}
	s.noScripts()
	s.says(s.must("plan", "-no-color"), "terraform_data.x is tainted")
}

// Errors in the configuration are reported before anything is created, all at once.
func TestValidate(t *testing.T) {
	t.Parallel()
	s := newSite(t, `
resource "terraform_data" "x" {
  connection { host = "h" }
  provisioner "remote-exec" {}
  provisioner "remote-exec" {
    inline = ["a"]
    script = "b"
  }
  provisioner "remote-exec" { inline = [] }
  provisioner "remote-exec" { inline = ["a", null] }
  provisioner "file" { destination = "d" }
  provisioner "file" { source = "s" }
  provisioner "file" {
    source      = "s"
    content     = "c"
    destination = "d"
  }
  provisioner "file" {
    content     = "c"
    destination = ""
  }
  provisioner "remote-exec" {
    inlin = ["a"]
  }
}
resource "terraform_data" "y" {
  provisioner "remote-exec" {
    inline = ["a"]
    connection { user = "u" }
  }
  provisioner "remote-exec" {
    inline = ["a"]
    connection {
      type = "winrm"
      host = "h"
    }
  }
  provisioner "remote-exec" {
    inline = ["a"]
    connection {
      type = "telnet"
      host = "h"
    }
  }
  provisioner "remote-exec" {
    inline = ["a"]
    connection {
      host             = ""
      port             = "abc"
      }
  }
  provisioner "remote-exec" {
    inline = ["a"]
    connection {
      host             = self.output
      port             = 70000
      timeout          = "5"
      target_platform  = "vms"
      private_key      = "~/.ssh/id_rsa"
      certificate      = "x"
      proxy_host       = "p"
      proxy_scheme     = "ftp"
      bastion_host     = "b"
      bastion_host_key = "k"
    }
  }
}`)
	out, status := s.run("validate", "-no-color")
	if status != 1 {
		t.Errorf("got exit status %d, want 1", status)
	}
	s.says(out, `on main.tf line 4`, `needs one of the arguments "inline", "script", "scripts"`, `takes only one of the arguments "inline", "script", "scripts"`,
		"The list is empty", "An element of the list is null", `needs one of the arguments "source", "content"`, `The argument "destination" is required`,
		`takes only one of the arguments "source", "content"`, "The destination is empty", `An argument named "inlin" is not expected here`,
		`The argument "host" is required`, "WinRM is not supported", `"telnet" is not a type of connection`, "a number is required",
		"The port must be a whole number from 1 to 65535", `"5" is not a duration`, `"vms" is not a known platform`, "If it is the name of a file", `"socks5"`,
		"not a public key in OpenSSH's format")
}
