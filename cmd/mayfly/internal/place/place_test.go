package place

import (
	"os"
	"path/filepath"
	"testing"
)

func TestName(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "repo", "env", "prod"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "repo", "env", "prod"))
	if got := Name(); got != "prod" {
		t.Errorf("outside of a repository: got %q, want %q", got, "prod")
	}
	if err := os.Mkdir(filepath.Join(dir, "repo", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := Name(); got != "repo/env/prod" {
		t.Errorf("in a repository: got %q, want %q", got, "repo/env/prod")
	}
}

// TestCommit finds the commit of a branch, of a packed one, of none, and of a worktree.
func TestCommit(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"none":     {map[string]string{"f": ""}, ""},
		"branch":   {map[string]string{".git/HEAD": "ref: refs/heads/a/b\n", ".git/refs/heads/a/b": commit + "\n"}, commit[:10]},
		"packed":   {map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/packed-refs": "# pack-refs\n" + commit + " refs/heads/main\n"}, commit[:10]},
		"detached": {map[string]string{".git/HEAD": commit + "\n"}, commit[:10]},
		"worktree": {map[string]string{".git": "gitdir: main/.git/worktrees/w\n", "main/.git/worktrees/w/HEAD": "ref: refs/heads/w\n", "main/.git/worktrees/w/commondir": "../..\n", "main/.git/refs/heads/w": commit}, commit[:10]},
		"new":      {map[string]string{".git/HEAD": "ref: refs/heads/main\n"}, ""},
		"odd":      {map[string]string{".git/HEAD": "x\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			sub := filepath.Join(dir, "sub")
			if err := os.Mkdir(sub, 0o700); err != nil {
				t.Fatal(err)
			}
			t.Chdir(sub)
			if got := Commit(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
