package diag

import "testing"

func TestNearest(t *testing.T) {
	tests := []struct {
		name       string
		candidates []string
		want       string
	}{
		{"nmae", []string{"name", "size"}, "name"},
		{"instance_cuont", []string{"instance_type", "instance_count"}, "instance_count"},
		{"True", []string{"false", "true"}, "true"},
		{"workspce", []string{"applying", "workspace"}, "workspace"},
		{"ip", []string{"id"}, "id"},
		{"rqe", []string{"req"}, "req"},
		{"rqe", []string{"rxx"}, ""},
		{"ip", []string{"az"}, ""},
		{"x", []string{"y"}, ""},
		{"region", []string{"version", "name"}, ""},
		{"ab", []string{"ac", "aa"}, "aa"}, // the first of those that are equally near
		{"name", nil, ""},
		{"", []string{"a"}, ""},
	}
	for _, test := range tests {
		if got := Nearest(test.name, test.candidates); got != test.want {
			t.Errorf("%q among %q: %q, not %q", test.name, test.candidates, got, test.want)
		}
	}
}

func TestNames(t *testing.T) {
	tests := []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"a"}, `"a"`},
		{[]string{"b", "a"}, `"a" and "b"`},
		{[]string{"b", "a", "c"}, `"a", "b", and "c"`},
		{[]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "A"}, `"1", "2", "3", "4", "5", "6", "7", "8", and 2 more`},
	}
	for _, test := range tests {
		if got := Names(test.names); got != test.want {
			t.Errorf("%q: %s, not %s", test.names, got, test.want)
		}
	}
}
