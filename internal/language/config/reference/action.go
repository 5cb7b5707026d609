package reference

var actionBlocks = []Block{
	{
		Path: "action", About: "An operation of a provider that is invoked: by an `action_trigger` block of a resource, which refers to it as `action.TYPE.NAME`, or by `-invoke=action.TYPE.NAME` ([actions](../actions.md)).",
		Arguments: []Argument{count, forEach, provider, dependsOn}, Blocks: []Nested{one("config", "action.config", "the arguments of the provider for the type of action")},
	},
	{Path: "action.config", Like: true, About: "The arguments of an action. They are the provider's.", Rest: Action},
	{
		Path: "resource.lifecycle.action_trigger", About: "Actions that are invoked when the object is created or updated.",
		Arguments: []Argument{
			arg("events", "list(keyword)", "when: `before_create`, `after_create`, `before_update` or `after_update`").required().values("before_create", "after_create", "before_update", "after_update"),
			arg("condition", "bool", "`false` invokes nothing"),
			arg("actions", "list(reference)", "the actions, in the order in which they are invoked").required(),
			word("on_failure", "`halt` stops everything that depends on the object, `taint` also taints it, and `continue` goes on", "halt", "taint", "continue"),
		},
	},
}
