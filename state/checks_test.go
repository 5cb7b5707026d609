package state

import (
	"reflect"
	"testing"
)

func TestMergeChecks(t *testing.T) {
	result := func(config string, status CheckStatus, objects ...CheckObject) CheckResult {
		return CheckResult{Kind: "resource", Config: config, Status: status, Objects: objects}
	}
	object := func(a string, status CheckStatus) CheckObject { return CheckObject{Addr: a, Status: status} }
	older := []CheckResult{
		result("t.a", CheckFail, object("t.a[0]", CheckFail), object("t.a[1]", CheckPass)),
		result("t.b", CheckUnknown, object("t.b", CheckUnknown)),
	}
	newer := []CheckResult{
		result("t.a", CheckPass, object("t.a[1]", CheckPass)),
		result("t.b", CheckPass, object("t.b", CheckPass)),
		result("t.c", CheckError, object("t.c", CheckError)),
	}
	want := []CheckResult{
		result("t.a", CheckFail, object("t.a[1]", CheckPass), object("t.a[0]", CheckFail)),
		result("t.b", CheckPass, object("t.b", CheckPass)),
		result("t.c", CheckError, object("t.c", CheckError)),
	}
	if got := MergeChecks(older, newer); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := MergeChecks(older, nil); !reflect.DeepEqual(got, older) {
		t.Errorf("with nothing newer: got %v, want %v", got, older)
	}
}

func TestWorse(t *testing.T) {
	order := []CheckStatus{CheckPass, CheckUnknown, CheckFail, CheckError}
	for i, a := range order {
		for j, b := range order {
			if a.Worse(b) != (i > j) {
				t.Errorf("%s is worse than %s: got %t, want %t", a, b, a.Worse(b), (i > j))
			}
		}
	}
}
