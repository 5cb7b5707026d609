package effort

import "testing"

func TestSave(t *testing.T) {
	if got := Of(15, 1); got != 15 {
		t.Errorf("Of(15, 1) is %d before Save, want 15", got)
	}
	defer func() { saved = "" }()
	Save()
	if got := Of(15, 1); got != 1 {
		t.Errorf("Of(15, 1) is %d after Save, want 1", got)
	}
}
