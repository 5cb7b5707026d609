package reference

// defaults and overrides are blocks that test files and files of mocks have.
var (
	defaults = []Nested{
		many("mock_resource", "mock_provider.mock_resource", "defaults for a type of resource", "type"),
		many("mock_data", "mock_provider.mock_resource", "defaults for a type of data source", "type"),
		many("mock_ephemeral", "mock_provider.mock_resource", "defaults for a type of ephemeral resource", "type"),
	}
	overrides = []Nested{
		many("override_resource", "override_resource", "values for a resource"), many("override_data", "override_resource", "values for a data source"),
		many("override_ephemeral", "override_resource", "values for an ephemeral resource"), many("override_module", "override_module", "outputs for a module"),
	}
	overrideDuring = word("override_during", "`plan` or `apply`: when computed attributes have their values", "plan", "apply")
)

var testRoots = append([]Nested{
	one("test", "test", ""), one("variables", "variables", ""), many("provider", "provider", "", "name"), many("mock_provider", "mock_provider", "", "name"), many("run", "run", "", "name"),
}, overrides...)

var mockRoots = append(append([]Nested{}, defaults...), overrides...)

var testBlocks = []Block{
	{Path: "test", About: "Settings of a test file.", Arguments: []Argument{arg("parallel", "bool", "`true` lets runs be made side by side").constant()}},
	{Path: "variables", Like: true, About: "Values of input variables, by name.", Rest: Names},
	{
		Path: "run", About: "A plan or apply of the module, and what must be true afterwards.",
		Arguments: []Argument{
			word("command", "`apply` or `plan`", "apply", "plan"), arg("providers", "map(reference)", "the configurations of providers"),
			arg("converge", "bool", "`true` plans and applies in rounds until nothing is left that cannot be planned yet").constant(),
			arg("expect_failures", "list(reference)", "the objects whose conditions must not be met"),
			arg("state_key", "string", "the name of the state that the run works on").constant(), arg("parallel", "bool", "`true` lets the run be made beside others").constant(),
		},
		Blocks: append([]Nested{
			one("variables", "variables", "values of input variables, as arguments"), one("module", "run.module", "another module to run"),
			one("plan_options", "run.plan_options", "options of the plan"), many("assert", "run.assert", "a condition; any number"),
		}, overrides...),
	},
	{Path: "run.module", About: "The module that a run works on.", Arguments: []Argument{
		arg("source", "string", "where it is").required().constant(), arg("version", "string", "which versions to take from a registry").constant(),
	}},
	{Path: "run.plan_options", About: "Options of a run's plan.", Arguments: []Argument{
		word("mode", "`normal` or `refresh-only`", "normal", "refresh-only"), arg("refresh", "bool", "`false` plans from the state alone").constant(),
		arg("replace", "list(reference)", "instances to replace"), arg("target", "list(reference)", "what to plan only"), arg("exclude", "list(reference)", "what to leave out"),
	}},
	condition("run.assert", "A condition for the result of a run."),
	{
		Path: "mock_provider", About: "A provider that answers without its plugin. Files of mocks have the same blocks.",
		Arguments: []Argument{
			arg("alias", "string", "as in a `provider` block").constant(), arg("for_each", "any", "its instances, as in a `provider` block"), arg("source", "string", "a directory of files with more of these blocks").constant(), overrideDuring,
		},
		Blocks: append(append([]Nested{}, defaults...), overrides...),
	},
	{Path: "mock_provider.mock_resource", About: "Defaults for a type. `mock_data` and `mock_ephemeral` have the same arguments.", Arguments: []Argument{
		arg("defaults", "any", "values of computed attributes, as an object"), overrideDuring,
	}},
	{Path: "override_resource", About: "Values for the instances of one resource. `override_data` and `override_ephemeral` have the same arguments.", Arguments: []Argument{
		arg("target", "reference", "its address").required(), arg("values", "any", "values of computed attributes, as an object"), overrideDuring,
	}},
	{Path: "override_module", About: "Outputs in place of a module.", Arguments: []Argument{
		arg("target", "reference", "its address").required(), arg("outputs", "any", "the outputs, as an object"), overrideDuring,
	}},
}
