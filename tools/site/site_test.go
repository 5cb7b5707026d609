package main

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// documents returns a small repository with what the site looks for. more are files to add or replace, as
// pairs.
func documents(more ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	add := func(name, text string) { fsys[name] = &fstest.MapFile{Data: []byte(text)} }
	for _, name := range first {
		add(name, "# "+strings.TrimSuffix(name, ".md")+"\n")
	}
	add("README.md", "# Fly\n\nSee [the index](docs/README.md), [a file](examples/one/main.tf) and ![a picture](docs/images/a.svg).\n")
	add("docs/README.md", "# By question\n\n## Start\n\n| | |\n|---|---|\n| How? | [a way](guide.md#the-way) |\n| Which? | [guide](guide.md), [decisions](adr/README.md) |\n")
	add("docs/guide.md", "# A guide\n\n## The `way`\n\nWords here: `a < b`.\n\n```hcl\nx = \"</code>\"\n```\n\n## The way\n\nAgain, [up](#the-way-1) and [home](../README.md#fly).\n\n| one | |\n|---|---|\n| 1 | 2 |\n")
	add("docs/adr/README.md", "# Choices\n\n[first](001-x.md)\n")
	add("docs/adr/001-x.md", "# 001 X\n")
	add("docs/images/a.svg", "<svg/>")
	add("examples/one/main.tf", "a = \"<b>\"\n")
	for i := 0; i < len(more); i += 2 {
		add(more[i], more[i+1])
	}
	return fsys
}

func TestPages(t *testing.T) {
	files, err := build(documents())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"ARCHITECTURE.html", "CHANGELOG.html", "CONTRIBUTING.html", "SECURITY.html", "docs/adr/001-x.html", "docs/adr/index.html", "docs/guide.html",
		"docs/images/a.svg", "docs/index.html", "examples/one/main.tf.html", "index.html", "search-index.js", "site.js", "style.css",
	}
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Errorf("files: got %q, want %q", got, want)
	}
	for name, wants := range map[string][]string{
		"index.html": {
			`<title>Fly</title>`, `href="docs/index.html">the index</a>`, `href="examples/one/main.tf.html"`, `src="docs/images/a.svg" alt="a picture"`,
			`<h2>Start</h2>`, `<h2>More</h2>`, `<a href="docs/guide.html">Guide</a>`, `<a href="SECURITY.html">SECURITY</a>`,
		},
		"docs/guide.html": {
			`<title>A guide · Fly</title>`, `data-root="../"`, `<h2 id="the-way">`, `<h2 id="the-way-1">The way</h2>`, `<a href="#the-way-1">The way</a>`, `href="../index.html#fly"`,
			`<a href="guide.html" aria-current="page">Guide</a>`, "x = &#34;&lt;/code&gt;&#34;", `<code class="short">a &lt; b</code>`, "<th scope=\"col\">one</th><td></td>",
		},
		"docs/index.html":           {"<table>\n<tbody>\n<tr>\n<td>How?</td>", `<a href="guide.html#the-way">a way</a>`},
		"docs/adr/001-x.html":       {`<a href="index.html">Decisions</a>`, `<a href="001-x.html" aria-current="page">001 X</a>`},
		"examples/one/main.tf.html": {`<h1 id="maintf">main.tf</h1>`, "a = &#34;&lt;b&gt;&#34;\n</code>"},
		"search-index.js":           {`["docs/guide.html","A guide"]`, `"the-way","The way","Words here: a \u003c b. x = \"\u003c/code\u003e\""]`},
	} {
		for _, s := range wants {
			if !bytes.Contains(files[name], []byte(s)) {
				t.Errorf("%s lacks %s:\n%s", name, s, files[name])
			}
		}
	}
}

func TestDeadLinks(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"docs/guide.md", "# G\n\nText\nand [x](nothing.md)\n", "docs/guide.md:4: the link to nothing.md leads nowhere: there is no file docs/nothing.md"},
		{"docs/guide.md", "# G\n\n## The way\n\n[x](README.md#nothing)\n", "docs/guide.html: the link to index.html#nothing leads to no heading"},
		{"docs/guide.md", "# G\n\n## The way\n\n[x](#nothing)\n", "docs/guide.html: the link to #nothing leads to no heading"},
		{"docs/guide.md", "# G\n", "docs/index.html: the link to guide.html#the-way leads to no heading"},
		{"docs/adr/001-x.md", "# X\n\n![x](../images/b.svg)\n", "docs/adr/001-x.md:3: the link to ../images/b.svg leads nowhere"},
		{"docs/adr/001-x.md", "# X\n\n[x](../../examples/one)\n", "docs/adr/001-x.md:3: the link to ../../examples/one leads nowhere: there is no file examples/one/README.md"},
		{"docs/adr/001-x.md", "# X\n\n[x](../../../etc/passwd)\n", "leads nowhere"},
		{"docs/adr/001-x.md", "# X\n\n[x](http://example.com)\n", "is not one by https"},
		{"docs/adr/001-x.md", "# X\n\n[x](javascript:alert)\n", "is not one by https"},
		{"docs/adr/001-x.md", "# X\n\nText\n\nand <b>bold</b>\n", "docs/adr/001-x.md:5: HTML is not shown"},
		{"docs/index.md", "# Two\n", "would both be the page docs/index.html"},
		{"examples/one/main.tf", "\xff", "examples/one/main.tf is not a text"},
	} {
		if _, err := build(documents(test.name, test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s with %q: the error is %v, want %q", test.name, test.text, err, test.want)
		}
	}
}

// TestEqualBytes makes the site of this repository twice.
func TestEqualBytes(t *testing.T) {
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	one, err := build(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	two, err := build(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(one, two, bytes.Equal) {
		t.Error("two runs differ")
	}
	if len(one) < 50 {
		t.Errorf("the site has only %d files", len(one))
	}
}

// TestWrite writes a site twice, and refuses a directory with other files.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "site")
	files := map[string][]byte{"index.html": []byte("1"), "docs/a.html": []byte("2")}
	for range 2 {
		if err := write(dir, files); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "docs", "a.html"))
	if err != nil || string(text) != "2" {
		t.Errorf("docs/a.html: got %q, %v, want \"2\"", text, err)
	}
	delete(files, "docs/a.html")
	files["index.html"] = []byte("3")
	if err := write(dir, files); err == nil || !strings.Contains(err.Error(), "a.html is not a file of this site") {
		t.Errorf("the error is %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "index.html")); err != nil || string(text) != "1" {
		t.Errorf("index.html: got %q, %v, want \"1\"", text, err)
	}
}

func TestRelative(t *testing.T) {
	for _, test := range [][3]string{
		{"index.html", "a.html", "a.html"},
		{"index.html", "docs/a.html", "docs/a.html"},
		{"docs/a.html", "index.html", "../index.html"},
		{"docs/a.html", "docs/b.html", "b.html"},
		{"docs/adr/a.html", "docs/b.html", "../b.html"},
		{"docs/a.html", "docs/adr/b.html", "adr/b.html"},
		{"docs/adr/a.html", "examples/one/b.html", "../../examples/one/b.html"},
	} {
		if got := relative(test[0], test[1]); got != test[2] {
			t.Errorf("from %s to %s: %s, want %s", test[0], test[1], got, test[2])
		}
	}
}

func TestAnchor(t *testing.T) {
	for heading, want := range map[string]string{
		"The way": "the-way", "keep_tunnel, and more": "keep_tunnel-and-more", "a/b: `c`": "ab-c", "What's new?": "whats-new", "É – x": "é--x",
	} {
		if got := anchor(heading); got != want {
			t.Errorf("%q: %q, want %q", heading, got, want)
		}
	}
}

// TestSearch searches the site of this repository from a disk, in a browser.
func TestSearch(t *testing.T) {
	program := ""
	for _, name := range []string{"chromium", "google-chrome", "chromium-browser"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("the search is tried with Chromium, which is not installed")
	}
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	files, err := build(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := write(dir, files); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"keep_tunnel": `href="../docs/keep.html#keep_tunnel"`,
		"no+such+1z":  "Nothing is found.",
	} {
		cmd := exec.CommandContext(t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
			"--user-data-dir="+t.TempDir(), "--enable-logging=stderr", "--virtual-time-budget=10000", "--dump-dom", "file://"+dir+"/docs/index.html?q="+query)
		cmd.WaitDelay = 10 * time.Second
		var page, log bytes.Buffer
		cmd.Stdout, cmd.Stderr = &page, &log
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s\n%s", err, &log)
		}
		_, results, _ := strings.Cut(page.String(), `id="results"`)
		results, _, _ = strings.Cut(results, "</form>")
		if !strings.Contains(results, want) {
			t.Errorf("a search for %s finds %s, not %s", query, results, want)
		}
		if strings.Contains(log.String(), "CONSOLE") {
			t.Errorf("the browser reports\n%s", &log)
		}
	}
}
