// Command site makes a static site of the documents of this repository, to be read from a disk or put on any
// server.
//
//	go run -C tools/site . -o DIR
//
// The site has a page for each document, and one for each other file that a document links to. Its navigation
// is the index in docs/README.md. It needs nothing from elsewhere: the search is a script with an index, both
// files of the site, and everything but the search works without scripts. Two runs give equal bytes.
//
// A link that leads nowhere, also to a heading, is an error, and nothing is written.
//
// In reading order: site.go collects the pages, document.go reads Markdown, page.go writes HTML, search.go
// makes the index, and check.go follows the links of the site.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	out := flag.String("o", "", "write the site into `DIR`, relative to the root of the repository; it may have the files of an earlier run, and no others")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*out, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// run makes the site of the repository around the current directory.
func run(out string, report io.Writer) error {
	root, err := repository()
	if err != nil {
		return err
	}
	files, err := build(os.DirFS(root))
	if err != nil {
		return err
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(root, out)
	}
	if err := write(out, files); err != nil {
		return err
	}
	bytes := 0
	for _, text := range files {
		bytes += len(text)
	}
	_, err = fmt.Fprintf(report, "%d files, %d kB: %s\n", len(files), bytes/1000, filepath.Join(out, "index.html"))
	return err
}

// repository returns the directory of the documents: the first one above the current directory that has them.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(index))); err == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("no directory above this one has %s: run the command within the repository", index)
		}
		dir = filepath.Dir(dir)
	}
}

// write writes the files of a site, named by their paths with slashes. A directory that has other files is
// left alone: it is not one of a site, or has pages that no longer exist.
func write(dir string, files map[string][]byte) error {
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && file == dir {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err == nil && files[filepath.ToSlash(name)] == nil {
			err = fmt.Errorf("%s is not a file of this site: remove it, or name another directory", file)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}
