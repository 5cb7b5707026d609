// Package reference is the table of the language's blocks: their labels, arguments and nested blocks, with
// types and descriptions. Editors get it from the command metadata blocks, and people read it as
// docs/reference/blocks.md.
//
// Nothing is decoded by it. Tests of the packages that decode blocks compare it with their own schemas, in
// both directions, so that it has neither less nor more than they accept.
//
// It may import nothing. It must not know files, values or providers.
package reference

import "slices"

// Where says in which files a root block may be.
type Where string

// The kinds of files.
const (
	Configuration Where = "configuration" // .tf, .tofu, .tf.json and .tofu.json
	Tests         Where = "tests"         // .tftest.hcl, .tofutest.hcl and the same in JSON
	Mocks         Where = "mocks"         // .tfmock.hcl, .tofumock.hcl and the same in JSON
	Queries       Where = "queries"       // .tfquery.hcl and the same in JSON
)

// Rest says which arguments and blocks a block may have besides the ones in the table.
type Rest string

// The kinds of further content.
const (
	Nothing    Rest = ""
	Provider   Rest = "provider schema"           // the block of the provider's configuration
	Resource   Rest = "resource schema"           // the block of the resource type
	Data       Rest = "data source schema"        // the block of the data source
	Ephemeral  Rest = "ephemeral resource schema" // the block of the ephemeral resource type
	List       Rest = "list schema"               // the block of the list of the type
	Action     Rest = "action schema"             // the block of the action type
	StateStore Rest = "state store schema"        // the block of the type of state store
	Meta       Rest = "provider_meta schema"      // the block that the provider declares for modules
	Variables  Rest = "variables"                 // an argument for each input variable of the module
	ByType     Rest = "types"                     // as the type in the first label has
	Names      Rest = "names"                     // arguments with any names
)

// Block is the content of a block.
type Block struct {
	Path      string // where it is, such as "resource.lifecycle"
	About     string // a sentence or more, in Markdown
	Arguments []Argument
	Blocks    []Nested
	Rest      Rest
	// Types has the content by the first label, for blocks whose Rest is ByType. It lacks types whose content
	// is declared elsewhere, such as backends.
	Types []Block
	// Like is set for a block that the page of the reference leaves out, because it says so at another one.
	Like bool
}

// Argument is an argument of a block.
type Argument struct {
	Name string
	// Type is the type of the value as in type constraints, or one of the words "keyword", "reference",
	// "list(keyword)", "list(reference)", "map(reference)" and "type" for expressions that are not evaluated.
	Type       string
	About      string // a phrase, in Markdown
	Required   bool
	Constant   bool     // the value must be known before anything is evaluated
	Values     []string // all keywords, or all values of a string; nil if they cannot be listed
	Deprecated bool     // About names the replacement
	Sensitive  bool     // the value is a credential
	// Reserved arguments are refused by name, so that a later version can give them a meaning.
	Reserved bool
}

// Nested is a type of block within another one, or of a root block.
type Nested struct {
	Name   string
	Labels []string
	About  string // a phrase, in Markdown; "" for root blocks
	// Content is the path of the block that describes the content.
	Content string
	Many    bool // there may be several
	// Reserved blocks are refused by name.
	Reserved bool
}

// Roots returns the blocks that are at the top of files.
func Roots(in Where) []Nested {
	switch in {
	case Tests:
		return testRoots
	case Mocks:
		return mockRoots
	case Queries:
		return queryRoots
	default:
		return configurationRoots
	}
}

// Blocks returns all blocks, each after the one that contains it, blocks of test files last.
func Blocks() []Block {
	return slices.Concat(moduleBlocks, encryptionBlocks, resourceBlocks, actionBlocks, queryBlocks, testBlocks)
}

// IsTest reports whether a block is one of test files.
func (b Block) IsTest() bool {
	return slices.ContainsFunc(testBlocks, func(t Block) bool { return t.Path == b.Path })
}

// Find returns the block with a path.
func Find(path string) (Block, bool) {
	for _, b := range Blocks() {
		if b.Path == path {
			return b, true
		}
	}
	return Block{}, false
}

func arg(name, typ, about string) Argument { return Argument{Name: name, Type: typ, About: about} }

func (a Argument) required() Argument {
	a.Required = true
	return a
}

func (a Argument) constant() Argument {
	a.Constant = true
	return a
}

func (a Argument) deprecated() Argument {
	a.Deprecated = true
	return a
}

func (a Argument) secret() Argument {
	a.Sensitive = true
	return a
}

func (a Argument) values(list ...string) Argument {
	a.Values = list
	return a
}

// word is an argument whose value is one of a few words, which are not evaluated.
func word(name, about string, values ...string) Argument {
	return Argument{Name: name, Type: "keyword", About: about, Constant: true, Values: values}
}

// reserved is an argument that is refused.
func reserved(name string) Argument {
	return Argument{Name: name, Type: "any", About: "reserved: using it is an error", Reserved: true}
}

func one(name, content, about string, labels ...string) Nested {
	return Nested{Name: name, Labels: labels, About: about, Content: content}
}

func many(name, content, about string, labels ...string) Nested {
	return Nested{Name: name, Labels: labels, About: about, Content: content, Many: true}
}

// refused is a block that is refused.
func refused(name string) Nested {
	return Nested{Name: name, About: "reserved: using it is an error", Reserved: true}
}
