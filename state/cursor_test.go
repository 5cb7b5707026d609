package state

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// plainFiles are files of version 4 with every known member and with values of unusual form.
var plainFiles = []string{
	`{"version":4,"terraform_version":"1","serial":1,"lineage":"l","outputs":{"a":{"value":[1,"x"],"type":["tuple",["number","string"]],"sensitive":true}},` +
		`"resources":[],"check_results":null}`,
	` { "version" : 4 , "serial":18446744073709551614,"resources" : null , "outputs" : { } } `,
	`{"resources":[{"mode":"managed","type":"t","name":"n","provider":"provider[\"registry.opentofu.org/a/b\"]","module":"module.m[\"k\"]","each":"map","instances":[
		{"index_key":"\u00e9\"\\","schema_version":12,"attributes":{"a" : "b \" } ] c", "n": [1, 2.5e3, {}]},"sensitive_attributes":[],"private":"aGk=","dependencies":["a.b", "c.d"],"create_before_destroy":true},
		{"index_key":"z","status":"tainted","deposed":"00000001","schema_version":0,"attributes":null,"attributes_flat":{"id":"1"},"depends_on":["x.y"],"skip_destroy":true},
		{"index_key":"i","attributes":{},"identity":{"id": 1},"identity_schema_version":3,"private":null,"dependencies":null,"sensitive_attributes":null}
	]},{"mode":"data","type":"t","name":"n","provider":"provider[\"registry.opentofu.org/a/b\"]","instances":[{"schema_version":1,"attributes":{"a":1}}]}],"version":4}`,
	`{"version":4,"resources":[{"mode":"managed","type":"t","name":"n","provider":"provider[\"registry.opentofu.org/a/b\"]","instances":[{"index_key":7},{"index_key":8.0},{"index_key":1e2}]}]}`,
	`{"version":4,"resources":[{"mode":"managed","type":"t","name":"n","provider":"provider[\"registry.opentofu.org/a/b\"]","instances":null}]}`,
}

// Files that are not plain are left to encoding/json, which has an error for most of them.
var notPlain = []string{
	``, `{`, `[]`, `4`, `{"version":3}`, `{"version":4,"resources":{}}`, `{"version":4,"resources":[5]}`, `{"version":4,"resources":[{"mode":5}]}`,
	`{"version":4,"resources":[{"instances":[{"schema_version":"1"}]}]}`, `{"version":4,"resources":[{"instances":[{"private":"?"}]}]}`,
	`{"version":4,"resources":[{"\u006dode":"managed"}]}`, `{"version":4,"resources":[{"instances":[{"\u0073tatus":"x"}]}]}`, `{"version":4,"resources":[]} x`,
}

func TestPlainFilesAreReadAsByTheLibrary(t *testing.T) {
	sources := append([]string(nil), plainFiles...)
	stored, err := filepath.Glob("testdata/*.tfstate")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stored {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, string(src))
	}
	for i, src := range sources {
		var doc fileV4
		if json.Unmarshal([]byte(src), &doc) != nil || doc.Version != formatVersion || scanMembers([]byte(src), true).unknown {
			continue
		}
		plain := plainV4([]byte(src))
		if plain == nil {
			t.Errorf("file %d is not plain", i)
			continue
		}
		want, wantErr := doc.decode(nil, nil)
		got, gotErr := plain.decode(nil, nil)
		if (wantErr == nil) != (gotErr == nil) || wantErr != nil && wantErr.Error() != gotErr.Error() {
			t.Errorf("file %d: %v, want %v", i, gotErr, wantErr)
			continue
		}
		if wantErr != nil {
			continue
		}
		want.Lineage, got.Lineage = "l", "l" // a file without one gets it later
		if mustWrite(t, got) != mustWrite(t, want) {
			t.Errorf("file %d is read as\n%s\nwant\n%s", i, mustWrite(t, got), mustWrite(t, want))
		}
	}
	for _, src := range notPlain {
		if plainV4([]byte(src)) != nil {
			t.Errorf("%s is plain", src)
		}
	}
}

// FuzzPlain looks for valid files that the cursor reads differently from the library, and for panics.
func FuzzPlain(f *testing.F) {
	for _, src := range append(append([]string(nil), plainFiles...), notPlain...) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		members := scanMembers([]byte(src), false)
		plain := plainV4([]byte(src))
		if plain == nil || members.unknown || members.err != nil {
			return
		}
		var doc fileV4
		if err := json.Unmarshal([]byte(src), &doc); err != nil {
			t.Fatalf("the library refuses it: %v", err)
		}
		want, wantErr := doc.decode(nil, nil)
		got, gotErr := plain.decode(nil, nil)
		if (wantErr == nil) != (gotErr == nil) {
			t.Fatalf("%v, want %v", gotErr, wantErr)
		}
		if wantErr != nil {
			return
		}
		a, errA := Write(got)
		b, errB := Write(want)
		if (errA == nil) != (errB == nil) || string(a) != string(b) {
			t.Fatalf("%s, %v, want %s, %v", a, errA, b, errB)
		}
	})
}

// A value that has fewer elements than its type must be an error, not a panic of the library.
func TestValuesThatDoNotFitTheirTypes(t *testing.T) {
	const value = `{"value":[],"type":["tuple",["string"]]}`
	if _, err := Read([]byte(`{"version":4,"lineage":"l","resources":[],"outputs":{"a":` + value + `}}`)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("an output: %v", err)
	}
	if _, err := decodeValue([]byte(`{"a":`+value+`}`), cty.Object(map[string]cty.Type{"a": cty.DynamicPseudoType})); err == nil {
		t.Error("an attribute is accepted")
	}
}
