package reference

var queryRoots = []Nested{
	many("list", "list", "", "type", "name"), many("provider", "provider", "", "name"), many("variable", "variable", "", "name"), many("locals", "locals", ""),
}

var queryBlocks = []Block{
	{
		Path: "list", About: "Objects that exist, for the command `query`: `list.TYPE.NAME.data` is a list with an object for each, with `display_name`, `identity` and `state`. In files that end in `.tfquery.hcl` ([queries](../query.md)), beside `provider`, `variable` and `locals` blocks.",
		Arguments: []Argument{
			count, forEach, provider, arg("include_resource", "bool", "`true` asks for each object as a whole, besides its identity"), arg("limit", "number", "how many results there are at most; 100 by default"),
		},
		Blocks: []Nested{one("config", "list.config", "the arguments of the provider for the type of list")},
	},
	{Path: "list.config", Like: true, About: "The arguments of a list. They are the provider's.", Rest: List},
}
