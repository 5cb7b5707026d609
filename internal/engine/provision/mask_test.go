package provision

import (
	"context"
	"encoding/base64"
	"runtime"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// TestMask shows the output of commands without the secrets in it, or none of it where a secret could not be
// recognized.
func TestMask(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	ephemeral := func(s string) cty.Value { return cty.StringVal(s).Mark(value.Ephemeral) }
	const secret = "correct horse\nbattery staple"
	coded := base64.StdEncoding.EncodeToString([]byte(secret))
	for name, test := range map[string]struct {
		command     cty.Value
		environment cty.Value
		shown, not  []string
		failure     string
	}{
		"recognized": {
			command:     cty.StringVal(`echo "begin $SECRET end"; printf '%s' "$SECRET" | base64 -w0; echo; echo "$SECRET" | base64 -w0; echo; echo "$OTHER"`),
			environment: cty.MapVal(map[string]cty.Value{"SECRET": ephemeral(secret), "OTHER": cty.StringVal("in the open")}),
			shown:       []string{"begin (masked value)", "(masked value) end", "in the open", "Executing: ["}, not: []string{coded[:12]},
		},
		"encoded": {
			command: cty.StringVal(`printf '%s' "$SECRET" | base64; printf 'user:%s' "$SECRET" | base64 -w0; echo; printf '%s' "$SECRET" | od -An -tx1 | tr -d ' \n' | tr a-f A-F; echo; echo "$ENCODED"; set -x; : "it's $SECRET"`),
			environment: cty.MapVal(map[string]cty.Value{
				"SECRET": ephemeral("p@ss wörd/sl=&ash, and so much more of it that Base64 does not fit into a line"), "JSON": ephemeral("{\n  \"password\": \"f0r-a-robot\",\n  \"number\": 17\n}"),
				"SHORT": ephemeral("p@ss wörd/sl=&ash"),
				"ENCODED": cty.StringVal("in%20the%20open\np%40ss%20w%C3%B6rd%2Fsl%3D%26ash\np@ss%20w%C3%B6rd%2Fsl=&ash p@ss%20w%c3%b6rd%2fsl=&ash\n" +
					`{"a":"p@ss w\u00f6rd\/sl=\u0026ash","b":"p@ss w\u00F6rd/sl=\u0026ash"}` + "\nthe word f0r-a-robot"),
			}),
			shown: []string{"in%20the%20open\n(masked value)\n(masked value) (masked value)\n", `{"a":"(masked value)","b":"(masked value)"}`, "the word (masked value)"},
			not:   []string{"p@ss", "p%40ss", "sl=", "ash", "f0r-a", "cEBzcyB3", "QHNzIHf", "wgYW5kIH", "b2VzIG5v", "70407373", "2C20616E"},
		},
		"all of the environment": {
			command:     cty.StringVal(`echo "got $SECRET"`),
			environment: cty.MapVal(map[string]cty.Value{"SECRET": cty.StringVal(secret)}).Mark(value.Sensitive),
			shown:       []string{"got (masked value)"},
		},
		"failure": {
			command:     cty.StringVal(`echo "refused: $SECRET"; exit 3`),
			environment: cty.MapVal(map[string]cty.Value{"SECRET": ephemeral(secret)}),
			shown:       []string{"refused: (masked value)"}, failure: "exit status 3. Output: refused: (masked value)",
		},
		"empty": {
			command:     cty.StringVal(`echo "got $SECRET$NOTHING."`),
			environment: cty.MapVal(map[string]cty.Value{"SECRET": ephemeral(secret + "\n\n  }\n"), "NOTHING": ephemeral("")}),
			shown:       []string{"got (masked value)"},
		},
		"short": {
			command:     cty.StringVal(`echo "got $SECRET"`),
			environment: cty.MapVal(map[string]cty.Value{"SECRET": ephemeral("tiger")}),
			shown:       []string{"(output suppressed due to ephemeral value in config; it cannot be masked: a value of environment, or a line of it, is too short or too plain to be recognized)"},
			not:         []string{"tiger", "got"},
		},
		"in the command": {
			command:     ephemeral("echo " + strings.ReplaceAll(secret, "\n", " ")),
			environment: cty.NullVal(cty.Map(cty.String)),
			shown:       []string{"it cannot be masked: the argument command contains a secret: pass it in environment)"},
		},
		"nothing secret": {
			command: cty.StringVal("echo plain"), environment: cty.NullVal(cty.Map(cty.String)), shown: []string{"plain"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			p := &Provisioner{
				Type: "local-exec", WorkDir: t.TempDir(), Output: func(line string) { lines = append(lines, line) }, Behind: func() bool { return false },
				Arguments: cty.ObjectVal(map[string]cty.Value{
					"command": test.command, "interpreter": cty.NullVal(cty.List(cty.String)), "working_dir": cty.NullVal(cty.String),
					"environment": test.environment, "quiet": cty.NullVal(cty.Bool), "output": cty.StringVal("masked"),
				}),
			}
			err := p.Run(context.Background(), context.Background())
			failure := ""
			if err != nil {
				failure = err.Error()
			}
			out := strings.Join(lines, "\n")
			for _, want := range test.shown {
				if !strings.Contains(out, want) {
					t.Errorf("%q is missing in:\n%s", want, out)
				}
			}
			if !strings.Contains(failure, test.failure) || (failure != "") != (test.failure != "") {
				t.Errorf("error: got %q, want %q", failure, test.failure)
			}
			for _, hidden := range append(test.not, "correct horse", "battery staple") {
				if strings.Contains(out+failure, hidden) {
					t.Errorf("%q is shown:\n%s\n%s", hidden, out, failure)
				}
			}
		})
	}
}
