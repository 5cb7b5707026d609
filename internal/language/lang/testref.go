package lang

// testWords are the first words of references that only test files have.
var testWords = map[string]Kind{"output": Output, "run": Earlier}

// InTest gives the references of an expression the meaning that they have in a test file, where outputs of
// the module under test and earlier runs can be referred to. Elsewhere such a name is a resource type.
func (x *Expr) InTest() {
	for i := range x.Refs {
		ref := &x.Refs[i]
		if kind, ok := testWords[ref.Root]; ok && ref.Kind == Resource {
			*ref = Ref{Kind: kind, Name: ref.Resource.Name, Root: ref.Root, Rest: ref.Rest, Range: ref.Range, Guarded: ref.Guarded, Iterators: ref.Iterators}
		}
	}
}
