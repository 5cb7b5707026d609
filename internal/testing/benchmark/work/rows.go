package work

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Rows is a configuration of many blocks of few instances, all of which a state in rows has. Of each ten
// blocks in a module, the second reads the first: each of its instances reads one of five.
type Rows struct {
	Modules, Blocks, Instances int  // in all, in each module, and of each block
	Joined                     bool // each module has an output that is made of all its objects, which the root module has, too
}

// RowsDependents is how many objects read the first one of the first block, if blocks have 100 instances.
const RowsDependents = 20

// filling makes the stored form of an object about 800 bytes long.
var filling = strings.Repeat("f", 230)

// input returns the argument of an object, whose number may be an expression.
func (r Rows) input(module, block, instance string) string {
	return module + "-" + block + "-" + instance + "-" + filling
}

// Files returns the configuration, in which the first object has a name of its own.
func (r Rows) Files(first string) map[string]string {
	var root strings.Builder
	root.WriteString(Plugin.Header)
	root.WriteString("terraform {\n  backend \"postgres\" {}\n}\n")
	files := map[string]string{}
	for m := range r.Modules {
		fmt.Fprintf(&root, "module \"m%d\" {\n  source = \"./m%[1]d\"\n  name = \"m%[1]d\"\n}\n", m)
		if r.Joined {
			fmt.Fprintf(&root, "output \"m%d\" {\n  value = module.m%[1]d.joined\n}\n", m)
		}
		files[fmt.Sprintf("m%d/main.tf", m)] = r.module(first)
		first = "0" // in all modules but the first
	}
	files["main.tf"] = root.String()
	return files
}

// module returns the configuration of a module.
func (r Rows) module(first string) string {
	var b strings.Builder
	b.WriteString(Plugin.Module)
	b.WriteString("variable \"name\" {\n  type = string\n}\n")
	for i := range r.Blocks {
		input := `"` + r.input("${var.name}", fmt.Sprint(i), "${count.index}") + `"`
		switch {
		case i == 0:
			input = `"` + r.input("${var.name}", "0", fmt.Sprintf(`${count.index == 0 ? "%s" : count.index}`, first)) + `"`
		case reads(i):
			input = fmt.Sprintf("bench_thing.b%d[%s].output", i-1, "count.index % 5")
		}
		fmt.Fprintf(&b, "resource \"bench_thing\" \"b%d\" {\n  count = %d\n  input = %s\n}\n", i, r.Instances, input)
	}
	if r.Joined {
		var all []string
		for i := range r.Blocks {
			all = append(all, fmt.Sprintf("bench_thing.b%d", i))
		}
		fmt.Fprintf(&b, "output \"joined\" {\n  value = sha1(join(\",\", [for t in concat(%s) : t.id]))\n}\n", strings.Join(all, ", "))
	}
	return b.String()
}

// reads reports whether a block reads the one before it.
func reads(block int) bool { return block%10 == 1 }

// State writes a state with all objects as the configuration with the first name "0" makes them, and without
// outputs.
func (r Rows) State(to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<20)
	fmt.Fprint(w, `{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"0d5be3ba-7c5c-4a63-8a3c-0a9a1d6b7f10","outputs":{},"resources":[`)
	separator := ""
	for m := range r.Modules {
		module := fmt.Sprintf("m%d", m)
		for b := range r.Blocks {
			fmt.Fprintf(w, `%s{"module":"module.%s","mode":"managed","type":"bench_thing","name":"b%d","provider":"provider[\"mayfly.dev/test/bench\"]","instances":[`, separator, module, b)
			separator = ","
			for i := range r.Instances {
				from, number, dependencies := b, i, ""
				if reads(b) {
					from, number, dependencies = b-1, i%5, fmt.Sprintf(`,"dependencies":["module.%s.bench_thing.b%d"]`, module, b-1)
				}
				input := r.input(module, fmt.Sprint(from), fmt.Sprint(number))
				if i > 0 {
					w.WriteByte(',')
				}
				fmt.Fprintf(w, `{"index_key":%d,"schema_version":0,"attributes":{"id":"thing-%s","input":%[2]q,"millis":null,"output":%[2]q,"secret_version":null,"secret_wo":null},"sensitive_attributes":[]%s}`, i, input, dependencies)
			}
			fmt.Fprint(w, `]}`)
		}
	}
	fmt.Fprint(w, `],"check_results":null}`+"\n")
	return w.Flush()
}
