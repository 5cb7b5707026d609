package compat

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"terraform-1.16": "terraform-1.16.0", "terraform-1.5.7": "terraform-1.5.7", "opentofu-1.12.6": "opentofu-1.12.6", "opentofu-2.0": "opentofu-2.0.0",
		"": "", "terraform": "", "terraform-1": "", "Terraform-1.16": "", "tofu-1.12": "", "terraform-1.16.": "", "terraform-v1.16": "",
		"terraform-1.16-alpha": "terraform-1.16.0-alpha", "terraform-1.16.0-alpha20260708": "terraform-1.16.0-alpha20260708", "opentofu-1.13.0-rc2": "opentofu-1.13.0-rc2",
		"terraform-1.16.0-": "", "terraform-1.16.0-1": "", "terraform-1.16.0-rc1-x": "", "terraform-1.16.0-RC1": "", "terraform-1.16.0-abcdefghij": "", "terraform-1.16.0+x": "",
		"terraform-01.2": "", " terraform-1.16": "", "opentofu-1.12\n": "", "opentofu-1.1234567": "",
	} {
		e, err := Parse(text)
		if want == "" {
			if err == nil || e != (Engine{}) || !strings.Contains(err.Error(), "terraform-X.Y or opentofu-X.Y") {
				t.Errorf("Parse(%q): got %v, %v, want an error that shows the forms", text, e, err)
			}
			continue
		}
		if err != nil || e.String() != want || e.OrDefault() != e {
			t.Errorf("Parse(%q): got %v, %v, want %s", text, e, err, want)
		}
		if again, err := Parse(e.String()); err != nil || again != e {
			t.Errorf("Parse(%q): got %v, %v, want the same engine again", e, again, err)
		}
	}
	if d := (Engine{}).OrDefault(); d.String() != "opentofu-"+Version {
		t.Errorf("default: got %s, want opentofu-%s", d, Version)
	}
}
