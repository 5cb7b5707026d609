package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-exec/tfexec"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// many is how many processes share a cache, as under a program that runs one for each unit of a large
// project.
const many = 8

// sharedCache makes the programs of a test use one plugin cache.
func sharedCache(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TF_PLUGIN_CACHE_DIR", dir)
	return dir
}

// all calls f in many projects at the same time.
func all(t *testing.T, doing string, projects []*tfexec.Terraform, f func(tf *tfexec.Terraform) error) {
	t.Helper()
	var wg sync.WaitGroup
	failed := make([]error, len(projects))
	for i, tf := range projects {
		wg.Go(func() { failed[i] = f(tf) })
	}
	wg.Wait()
	ok(t, doing, errors.Join(failed...))
}

func projects(t *testing.T) []*tfexec.Terraform {
	t.Helper()
	out := make([]*tfexec.Terraform, many)
	for i := range out {
		out[i] = project(t, map[string]string{"main.tf": strings.ReplaceAll(simConfig("1.1.0")["main.tf"], `"x"`, fmt.Sprintf(`"x%d"`, i))})
	}
	return out
}

// files are the regular files below a directory, with links followed at its top.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	ok(t, "listing "+dir, err)
	return out
}

func inPlace() string {
	return simcloud.Source + "/1.1.0/" + runtime.GOOS + "_" + runtime.GOARCH
}

// sound checks what parallel runs of init have left: one package in the cache, which is that of every
// project, and the same checksums everywhere.
func sound(t *testing.T, cache string, projects []*tfexec.Terraform) {
	t.Helper()
	var packages, others []string
	for _, name := range files(t, cache) {
		if strings.HasPrefix(name, inPlace()+"/") {
			packages = append(packages, name)
		} else if !strings.HasSuffix(name, ".lock") {
			others = append(others, name)
		}
	}
	if len(packages) != 1 || len(others) != 0 {
		t.Errorf("cache: got %q and %q, want one package and nothing else", packages, others)
	}
	var first []byte
	for _, tf := range projects {
		lock, err := os.ReadFile(filepath.Join(tf.WorkingDir(), ".terraform.lock.hcl"))
		ok(t, "lock file", err)
		if first == nil {
			first = lock
		}
		if !bytes.Equal(first, lock) || !bytes.Contains(lock, []byte("h1:")) {
			t.Errorf("lock file: got\n%s\nwant the same with checksums as\n%s", lock, first)
		}
		to, err := filepath.EvalSymlinks(filepath.Join(tf.WorkingDir(), ".terraform", "providers", filepath.FromSlash(inPlace())))
		ok(t, "the installed package", err)
		if real, err := filepath.EvalSymlinks(cache); err != nil || !strings.HasPrefix(to, real) {
			t.Errorf("the package of %s is %s, not that of the cache", tf.WorkingDir(), to)
		}
	}
}

func TestSharedCacheFromMirror(t *testing.T) {
	fromMirror(t)
	cache, units := sharedCache(t), projects(t)
	all(t, "init", units, func(tf *tfexec.Terraform) error { return tf.Init(t.Context()) })
	for _, tf := range units {
		if got := chosen(t, tf); got != "1.1.0" {
			t.Errorf("version %s of the provider, want %s", got, "1.1.0")
		}
	}
	all(t, "apply", units, func(tf *tfexec.Terraform) error { return tf.Apply(t.Context()) })
	all(t, "init with a filled cache", units, func(tf *tfexec.Terraform) error { return tf.Init(t.Context(), tfexec.Upgrade(true)) })
	if got := files(t, cache); len(got) > 2 {
		t.Errorf("the cache has %q", got)
	}
	all(t, "destroy", units, func(tf *tfexec.Terraform) error { return tf.Destroy(t.Context()) })
}

func TestSharedCacheFromRegistry(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the provider in the registry is a shell script")
	}
	registry := serveRegistry(t)
	cache, units := sharedCache(t), projects(t)
	all(t, "init", units, func(tf *tfexec.Terraform) error { return tf.Init(t.Context()) })
	sound(t, cache, units)
	all(t, "apply", units, func(tf *tfexec.Terraform) error { return tf.Apply(t.Context()) })
	downloads := 0
	for _, r := range registry.Requests() {
		if strings.HasSuffix(r.Path, ".zip") {
			downloads++
		}
	}
	if downloads < 1 || downloads > many {
		t.Errorf("%d downloads", downloads)
	}
	t.Logf("%d downloads for %d projects", downloads, many)
	all(t, "init with a filled cache", units, func(tf *tfexec.Terraform) error { return tf.Init(t.Context(), tfexec.Upgrade(true)) })
	sound(t, cache, units)

	// What lies in the cache is not believed: a project whose lock file has the checksum does not get a
	// package that was changed.
	lock, err := os.ReadFile(filepath.Join(units[0].WorkingDir(), ".terraform.lock.hcl"))
	ok(t, "lock file", err)
	executable := filepath.Join(cache, filepath.FromSlash(inPlace()), "terraform-provider-sim_v1.1.0")
	filetest.Write(t, executable, "#!/bin/sh\necho evil\n")
	late := project(t, simConfig("1.1.0"))
	filetest.Write(t, filepath.Join(late.WorkingDir(), ".terraform.lock.hcl"), string(lock))
	if err := late.Init(t.Context()); err == nil {
		text, err := os.ReadFile(filepath.Join(late.WorkingDir(), ".terraform", "providers", filepath.FromSlash(inPlace()), "terraform-provider-sim_v1.1.0"))
		if err != nil || bytes.Contains(text, []byte("evil")) {
			t.Errorf("the changed package was installed, %v", err)
		}
	} else if !strings.Contains(err.Error(), "checksum") {
		t.Errorf("init with a changed package in the cache: %v", err)
	}
}

// TestKilledInit kills an init in the middle of a download: what it leaves neither blocks others nor is taken
// for a package.
func TestKilledInit(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the provider in the registry is a shell script")
	}
	registry := serveRegistry(t)
	cache, units := sharedCache(t), projects(t)
	begun, stop := make(chan struct{}), make(chan struct{})
	defer close(stop)
	var once sync.Once
	hook := func(w http.ResponseWriter, r *http.Request) bool {
		hang := false
		if strings.HasSuffix(r.URL.Path, ".zip") {
			once.Do(func() { hang = true })
		}
		if !hang {
			return false
		}
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write([]byte("PK\x03\x04 and then nothing"))
		_ = http.NewResponseController(w).Flush()
		close(begun)
		select {
		case <-stop:
		case <-r.Context().Done():
		}
		return true
	}
	registry.Change(func() { registry.Hook = hook })
	victim := exec.Command(binary, "init")
	victim.Dir = units[0].WorkingDir()
	ok(t, "starting", victim.Start())
	<-begun
	others := make(chan error, 1)
	go func() {
		var wg sync.WaitGroup
		failed := make([]error, many)
		for i, tf := range units[1:] {
			wg.Go(func() { failed[i] = tf.Init(t.Context()) })
		}
		wg.Wait()
		others <- errors.Join(failed...)
	}()
	ok(t, "killing", victim.Process.Kill())
	_ = victim.Wait() // its status is that it was killed
	ok(t, "init of the others", <-others)
	sound(t, cache, units[1:])
	ok(t, "init once more", units[0].Init(t.Context()))
	sound(t, cache, units)
	if left := slices.DeleteFunc(files(t, units[0].WorkingDir()), func(name string) bool {
		return name == "main.tf" || name == ".terraform.lock.hcl" || name == ".terraform/terraform.tfstate" || strings.HasPrefix(name, ".terraform/providers/"+inPlace()) ||
			filepath.Dir(name) == ".terraform/installing" && strings.HasSuffix(name, ".lock")
	}); len(left) != 0 {
		t.Errorf("left by the killed init: got %q, want nothing", left)
	}
}
