package reference

var configurationRoots = []Nested{
	many("terraform", "terraform", ""), many("language", "language", ""), many("provider", "provider", "", "name"),
	many("variable", "variable", "", "name"), many("locals", "locals", ""), many("output", "output", "", "name"),
	many("resource", "resource", "", "type", "name"), many("data", "data", "", "type", "name"), many("ephemeral", "ephemeral", "", "type", "name"), many("action", "action", "", "type", "name"),
	many("module", "module", "", "name"), many("moved", "moved", ""), many("removed", "removed", ""), many("import", "import", ""),
	many("check", "check", "", "name"), many("ephemeral_attributes", "ephemeral_attributes", "", "type"),
}

// Arguments that several blocks have.
var (
	dependsOn  = arg("depends_on", "list(reference)", "what else must be done before, besides what the arguments refer to")
	count      = arg("count", "number", "how many instances there are; `count.index` is the number of each, from 0")
	forEach    = arg("for_each", "any", "a map or set with an entry for each instance; `each.key` and `each.value` are that of each")
	deprecated = func(who string) Argument {
		return arg("deprecated", "string", "what callers that "+who+" are warned with").constant()
	}
	sensitive   = arg("sensitive", "bool", "`true` keeps the value out of what is shown").constant()
	description = arg("description", "string", "for people").constant()
)

// condition is the content of a block with a condition.
func condition(path, about string) Block {
	return Block{Path: path, About: about, Arguments: []Argument{
		arg("condition", "bool", "what must be true").required(),
		arg("error_message", "string", "what is reported if it is not").required(),
	}}
}

// like marks a block as described by another one.
func like(b Block) Block {
	b.Like = true
	return b
}

var moduleBlocks = []Block{
	{
		Path: "terraform", About: "Settings of a module.",
		Arguments: []Argument{
			arg("required_version", "string", "the versions of OpenTofu that the module works with, in files that end in `.tofu`; in `.tf` files it is about Terraform and has no effect").constant(),
			arg("experiments", "list(keyword)", "there are none: any is an error").constant(),
			word("language", "there is one edition, `TF2021`", "TF2021"),
		},
		Blocks: []Nested{
			many("required_providers", "terraform.required_providers", "the sources and versions of the providers, as objects by local name: `{ source, version, configuration_aliases }`"),
			one("backend", "terraform.backend", "where [states are kept](../backends.md); root module only", "type"),
			one("cloud", "terraform.cloud", "a service that [keeps states](../backends.md#services-with-workspaces-of-their-own); root module only"),
			one("state_store", "terraform.state_store", "a [state store of a provider](../state-stores.md) in place of a backend; root module only", "type"),
			one("encryption", "terraform.encryption", "how [states and plans are encrypted](../encryption.md); root module only"),
			many("provider_meta", "terraform.provider_meta", "what a provider is given about the module", "name"),
		},
	},
	{Path: "terraform.required_providers", About: "The providers of a module: each argument is the local name of one, with an object as its value: `source`, `version` and `configuration_aliases`.", Rest: Names},
	{Path: "terraform.backend", About: "Where states are kept. The arguments are [those of the type](backends.md).", Rest: ByType},
	{Path: "terraform.cloud", About: "A service that keeps states. The arguments are [those of `cloud`](backends.md#cloud).", Rest: ByType},
	{
		Path: "terraform.state_store", About: "A state store of a provider. The other arguments are those of the type, as its provider declares them.", Rest: StateStore,
		Blocks: []Nested{one("provider", "terraform.state_store.provider", "the provider that has the state store, by its local name in `required_providers`; required", "name")},
	},
	{Path: "terraform.state_store.provider", About: "The configuration of the provider that keeps the states, in a process of its own. The arguments are the provider's.", Rest: Provider},
	{Path: "terraform.provider_meta", About: "What a provider is given about the module. The arguments are the provider's.", Rest: Meta},
	{
		Path: "language", About: "Settings that all programs of the language read.",
		Arguments: []Argument{
			word("edition", "there is one, `tofu2024`", "tofu2024", "TF2021"),
			arg("experiments", "list(keyword)", "there are none: any is an error").constant(),
		},
		Blocks: []Nested{one("compatible_with", "language.compatible_with", "the versions of programs that the module works with")},
	},
	{Path: "language.compatible_with", About: "Versions of programs that the module works with.", Arguments: []Argument{
		arg("opentofu", "string", "the versions of OpenTofu that the module works with").constant(),
	}},
	{
		Path: "provider", About: "A configuration of a provider. The other arguments are the provider's.", Rest: Provider,
		Arguments: []Argument{
			arg("alias", "string", "the name of a further configuration, used as `NAME.ALIAS`").constant(),
			arg("version", "string", "deprecated: use `required_providers`").constant().deprecated(),
			arg("for_each", "any", "a map or set with an entry for each instance of the configuration, chosen as `NAME.ALIAS[KEY]`; needs an `alias`"),
			reserved("count"), reserved("depends_on"), reserved("source"),
		},
		Blocks: []Nested{refused("lifecycle"), refused("locals")},
	},
	{
		Path: "variable", About: "An input of a module: `var.NAME`.",
		Arguments: []Argument{
			arg("type", "type", "the type, with `optional(TYPE, DEFAULT)` for attributes of objects"),
			arg("default", "any", "the value if none is given").constant(), description, sensitive,
			arg("nullable", "bool", "`false` replaces null by the default").constant(),
			arg("ephemeral", "bool", "`true` keeps the value out of states and plans, and allows ephemeral values").constant(),
			deprecated("set the variable"),
			arg("const", "bool", "`true` allows only values that are known before anything is evaluated").constant(),
		},
		Blocks: []Nested{many("validation", "variable.validation", "a condition for the value; any number")},
	},
	condition("variable.validation", "A condition for the value."),
	{Path: "locals", About: "Named values: each argument `NAME` is `local.NAME`.", Rest: Names},
	{
		Path: "output", About: "A result of a module: `module.MODULE.NAME` for its caller.",
		Arguments: []Argument{
			arg("value", "any", "the value").required(), arg("type", "type", "a type that the value is converted to"), description, sensitive,
			arg("ephemeral", "bool", "`true` allows ephemeral values; not in the root module").constant(), deprecated("use the output"), dependsOn,
		},
		Blocks: []Nested{many("precondition", "output.precondition", "a condition that is evaluated before the value"), refused("postcondition")},
	},
	condition("output.precondition", "A condition that is evaluated before the value."),
	{
		Path: "module", About: "A call of another module: `module.NAME`. The other arguments are its variables.", Rest: Variables,
		Arguments: []Argument{
			arg("source", "string", "where it is: a path that begins with `./` or `../`, a registry, or an address").required(),
			arg("version", "string", "which versions to take from a registry"), count, forEach, dependsOn,
			arg("providers", "map(reference)", "the configurations of providers for it, by their names there"),
		},
		Blocks: []Nested{one("lifecycle", "module.lifecycle", "with the argument `enabled`"), refused("locals")},
	},
	{Path: "module.lifecycle", About: "Whether a module is used.", Arguments: []Argument{arg("enabled", "bool", "`false` makes the block have no instance")}},
	{Path: "moved", About: "Says that an object has another address now.", Arguments: []Argument{
		arg("from", "reference", "its former address").required(), arg("to", "reference", "its new address").required(),
	}},
	{
		Path: "removed", About: "Says what becomes of the objects of a block that is gone.",
		Arguments: []Argument{arg("from", "reference", "the address of the resource or module").required()},
		Blocks: []Nested{
			one("lifecycle", "removed.lifecycle", "with the argument `destroy`"), many("provisioner", "resource.provisioner", "to run before an object is destroyed", "type"),
			one("connection", "resource.connection", "for the provisioners"),
		},
	},
	{Path: "removed.lifecycle", About: "What becomes of the objects.", Arguments: []Argument{arg("destroy", "bool", "`true` destroys them, `false` forgets them").constant()}},
	{Path: "import", About: "Takes an existing object into the state.", Arguments: []Argument{
		arg("to", "reference", "its address").required(), arg("id", "string", "what the provider finds it by"),
		arg("identity", "any", "an object that the provider finds it by, in place of `id`"), arg("for_each", "any", "a map or set with an entry for each object"),
		arg("provider", "reference", "the configuration of the provider that imports it"),
	}},
	{Path: "ephemeral_attributes", About: "Keeps attributes of all resources of a type out of the state. Only the root module has such blocks.", Arguments: []Argument{
		arg("names", "list(reference)", "the attributes, as in `lifecycle`").required(),
		arg("provider", "reference", "the provider configuration of the resources"), arg("module", "reference", "the module that they are in, or below"),
	}},
	{Path: "check", About: "Conditions that give warnings if they are not met.", Blocks: []Nested{
		one("data", "data", "a data source for the assertions, whose errors are warnings", "type", "name"),
		one("ephemeral", "ephemeral", "an ephemeral resource for the assertions, whose errors are warnings", "type", "name"),
		many("assert", "check.assert", "a condition; any number"),
	}},
	condition("check.assert", "A condition."),
}
