package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
	"github.com/mayfly-iac/mayfly/internal/testing/pty"
)

// TestPictures compares the pictures in README.md with runs of now: the texts in them, but not the times.
// MAYFLY_UPDATE_GOLDEN=1 draws them again.
func TestPictures(t *testing.T) {
	t.Run("recording", func(t *testing.T) {
		t.Parallel()
		dir := copied(t, filepath.Join("..", "..", "examples", "quickstart", "main.tf"))
		const command = "mayfly apply -auto-approve"
		comparePicture(t, "recording.svg", recording(command, onTerminal(t, dir, "apply", "-auto-approve")))
	})
	t.Run("timeline", func(t *testing.T) {
		t.Parallel()
		dir := copied(t, filepath.Join("testdata", "pictures", "main.tf"))
		pace := "0"
		if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" {
			pace = "1"
		}
		onTerminal(t, dir, "apply", "-auto-approve", "-ephemeral-timeline=run.html", "-var=pace="+pace)
		page, err := os.ReadFile(filepath.Join(dir, "run.html"))
		if err != nil {
			t.Fatal(err)
		}
		comparePicture(t, "timeline.svg", timelinePicture(t, string(page)))
	})
}

// copied returns a new directory that has a copy of a file.
func copied(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// onTerminal runs the program on a terminal of its own and returns what is written there.
func onTerminal(t *testing.T, dir string, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	master, slave := pty.Open(t)
	seen := pty.Watch(master)
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, slave, slave, slave
	// A terminal that cannot move its cursor has no status line, and colors only if they are asked for; the
	// user's settings have no effect.
	cmd.Env = append(os.Environ(), "MAYFLY_TEST_MAIN=1", "TERM=dumb", "FORCE_COLOR=1", "NO_COLOR=", "TF_CLI_CONFIG_FILE=", "HOME="+t.TempDir())
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", args, err, seen)
	}
	slave.Close()
	eventually(t, "everything is read", func() bool {
		return strings.Contains(seen.String(), "Apply complete!") && strings.HasSuffix(seen.String(), "\n")
	})
	return strings.ReplaceAll(seen.String(), "\r\n", "\n")
}

// comparePicture compares the texts of a picture with those of the stored one, or stores it.
func comparePicture(t *testing.T, name, picture string) {
	t.Helper()
	file := filepath.Join("..", "..", "docs", "images", name)
	if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(picture), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	have, want := textsIn(t, string(stored)), textsIn(t, picture)
	if !slices.Equal(have, want) {
		t.Errorf("docs/images/%s: got another picture than a run shows now: draw it again, with MAYFLY_UPDATE_GOLDEN=1 go test ./cmd/mayfly -run TestPictures\ngot: %q\nwant: %q", name, have, want)
	}
}

// textsIn returns the lines of text in a picture in alphabetical order, since what is done side by side has
// none, without numbers and units of time. Of a chart, it leaves out what depends on the lengths of bars.
func textsIn(t *testing.T, picture string) []string {
	t.Helper()
	number := regexp.MustCompile(`\d+(\.\d+)?( (ms|s|µs))?`)
	left := []string{"style", "title"} // elements that are left out
	var out []string
	var line strings.Builder
	within := "" // which of them
	for decoder := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the picture is not XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			switch name := token.Name.Local; {
			case name == "foreignObject":
				left = append(left, "text")
			case within == "" && slices.Contains(left, name):
				within = name
			}
		case xml.CharData:
			if within == "" {
				line.Write(token)
			}
		case xml.EndElement:
			switch token.Name.Local {
			case within:
				within = ""
			case "text", "span", "div":
				out = append(out, strings.TrimSpace(number.ReplaceAllString(line.String(), "")))
				line.Reset()
			}
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return s == "" })
}

// The layout of a recording: columns and rows of the window, the size of a character, and how long a line
// takes to appear.
const (
	columns, rows = 100, 27
	charWidth     = 7.8
	lineHeight    = 18
	margin        = 16
	lineTime      = 0.12 // seconds
	endTime       = 3    // seconds for which the end is shown at first
)

// recording draws a command and what it prints as a terminal that scrolls. Before that it shows the end, for
// readers who take a picture of it, and so it does without animations.
func recording(command, output string) string {
	lines := append([]string{"$ " + command}, strings.Split(strings.TrimRight(output, "\n"), "\n")...)
	for i, line := range lines {
		if len([]rune(sgr().ReplaceAllString(line, ""))) > columns {
			lines[i] = line[:strings.LastIndex(line[:columns], " ")]
			lines = slices.Insert(lines, i+1, line[len(lines[i])+1:])
		}
	}
	var out strings.Builder
	width, height := int(columns*charWidth+2*margin), rows*lineHeight+2*margin
	total := lineTime * float64(len(lines)+1)
	scrolled := max(len(lines)-rows, 0)
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d" role="img" aria-label="The output of %[3]s">
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d6dbe4;white-space:pre}
.b{font-weight:bold;fill:#fff}.g{fill:#5cc98a}.y{fill:#e3b341}.r{fill:#ff7b72}
#all{transform:translateY(-%[4]dpx)}
@media (prefers-reduced-motion:no-preference){
#all{animation:scroll %.2[5]fs step-end %[6]ds}
text{animation:hide 0s step-end %[6]ds}
@keyframes hide{from,to{opacity:0}}
@keyframes scroll{0%%{transform:none}`, width, height, html.EscapeString(command), scrolled*lineHeight, total, endTime)
	for i := 1; i <= scrolled; i++ {
		fmt.Fprintf(&out, "%.2f%%{transform:translateY(-%dpx)}", 100*lineTime*float64(rows+i)/total, i*lineHeight)
	}
	fmt.Fprintf(&out, "}}\n</style>\n<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#161b22\"/>\n<clipPath id=\"window\"><rect y=\"%d\" width=\"%d\" height=\"%d\"/></clipPath>\n<g clip-path=\"url(#window)\"><g id=\"all\">\n",
		width, height, margin, width, height-2*margin)
	for i, line := range lines {
		fmt.Fprintf(&out, "<text x=\"%d\" y=\"%d\" style=\"animation-duration:%.2fs\">%s</text>\n", margin, margin+(i+1)*lineHeight-5, lineTime*float64(i+1), spans(line))
	}
	return out.String() + "</g></g>\n</svg>\n"
}

// sgr is a sequence that sets the color and weight of what follows.
var sgr = pattern.New("\x1b\\[([0-9;]*)m")

// spans translates a line with such sequences.
func spans(line string) string {
	var out strings.Builder
	class := ""
	write := func(text string) {
		if text = html.EscapeString(text); text != "" && class != "" {
			text = `<tspan class="` + class + `">` + text + "</tspan>"
		}
		out.WriteString(text)
	}
	at := 0
	for _, m := range sgr().FindAllStringSubmatchIndex(line, -1) {
		write(line[at:m[0]])
		class = map[string]string{"1": "b", "31": "r", "32": "g", "33": "y", "1;32": "b g", "1;31": "b r"}[line[m[2]:m[3]]]
		at = m[1]
	}
	write(line[at:])
	return out.String()
}

// timelinePicture returns the legend and the chart of a page of -ephemeral-timeline as a picture.
func timelinePicture(t *testing.T, page string) string {
	t.Helper()
	between := func(from, to string) string {
		_, rest, found := strings.Cut(page, from)
		text, _, closed := strings.Cut(rest, to)
		if !found || !closed {
			t.Fatalf("the page has no %s", from)
		}
		return from + text + to
	}
	legend, chart := between(`<ul class="legend"`, "</ul>"), between(`<section class="chart"`, "</section>")
	height := 76 + 30*strings.Count(chart, "<h2>")
	for _, m := range regexp.MustCompile(`<svg height="(\d+)"`).FindAllStringSubmatch(chart, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		height += n
	}
	drawings := strings.NewReplacer("<svg ", `<svg xmlns="http://www.w3.org/2000/svg" `) // within XHTML
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 %[1]d" width="1000" height="%[1]d" role="img" aria-label="When ephemeral instances were open in a run, and what used them">
<foreignObject width="1000" height="%[1]d"><div xmlns="http://www.w3.org/1999/xhtml" class="picture">
%[2]s%[3]s%[4]s
<div class="chart">%[5]s</div>
</div></foreignObject>
</svg>
`, height, strings.Replace(between("<style>", "</style>"), "</style>", `.picture{background:var(--bg);color:var(--fg);padding:8px;font:14px/1.45 system-ui,sans-serif}
:root{--wide:13.5rem;--num:3.6rem}.chart{max-height:none;overflow:visible}.plot{min-width:0}
</style>`, 1), drawings.Replace(between(`<svg width="0"`, "</svg>")), drawings.Replace(legend),
		drawings.Replace(strings.TrimSuffix(chart[strings.Index(chart, ">")+1:], "</section>")))
}
