package reference

import "slices"

// provider is the meta-argument of resources.
var provider = arg("provider", "reference", "the configuration of the provider, such as `aws.west`")

var enabled = arg("enabled", "bool", "`false` makes the block have no instance")

// conditions are the conditions of a lifecycle block.
var conditions = []Nested{
	many("precondition", "resource.lifecycle.precondition", "a condition that is evaluated before the object is changed"),
	many("postcondition", "resource.lifecycle.postcondition", "a condition that is evaluated after it, with `self`"),
}

var resourceBlocks = []Block{
	{
		Path: "resource", Rest: Resource,
		About:     "An object that is created, changed and destroyed: `TYPE.NAME`. The other arguments are the provider's. `data` and `ephemeral` blocks have the same arguments, without `connection` and `provisioner`.",
		Arguments: []Argument{count, forEach, provider, dependsOn},
		Blocks: []Nested{
			one("lifecycle", "resource.lifecycle", "how changes are made, and conditions"), one("connection", "resource.connection", "how the provisioners reach a machine"),
			many("provisioner", "resource.provisioner", "a program to run after the creation or before the destruction; any number", "type"), refused("locals"),
		},
	},
	{
		Path: "data", Rest: Data, Like: true, About: "An object that is read: `data.TYPE.NAME`. The other arguments are the provider's.",
		Arguments: []Argument{count, forEach, provider, dependsOn}, Blocks: []Nested{one("lifecycle", "data.lifecycle", "conditions"), refused("locals")},
	},
	{Path: "data.lifecycle", Like: true, About: "Conditions, and whether the object is read.", Arguments: []Argument{enabled}, Blocks: conditions},
	{
		Path: "ephemeral", Rest: Ephemeral, Like: true, About: "An object that is opened while it is needed and in no state: `ephemeral.TYPE.NAME`. The other arguments are the provider's.",
		Arguments: []Argument{count, forEach, provider, dependsOn}, Blocks: []Nested{one("lifecycle", "ephemeral.lifecycle", "conditions"), refused("locals")},
	},
	{Path: "ephemeral.lifecycle", Like: true, About: "Conditions, and whether the object is opened.", Arguments: []Argument{enabled}, Blocks: conditions},
	{
		Path: "resource.lifecycle", About: "How an object is changed. `data` and `ephemeral` blocks have only `enabled` and conditions.",
		Blocks: append(slices.Clone(conditions), many("action_trigger", "resource.lifecycle.action_trigger", "actions to invoke when the object is changed")),
		Arguments: []Argument{
			arg("create_before_destroy", "bool", "`true` creates a replacement before the old object is destroyed").constant(),
			arg("prevent_destroy", "bool", "`true` makes plans that destroy the object errors"),
			arg("ephemeral_attributes", "list(reference)", "attributes whose values are never stored: arguments may be ephemeral, and computed attributes are in the run that makes them; the state has null in their place. A map gives each a version, such as `{ password = 1 }`: its value is opened only if that or another argument changes"),
			arg("ignore_changes", "list(reference)", "arguments whose changes have no effect, or `all`"),
			arg("replace_triggered_by", "list(reference)", "resources and attributes whose changes replace the object"), enabled,
			arg("destroy", "bool", "`false` forgets the object in place of destroying it").constant(),
		},
	},
	condition("resource.lifecycle.precondition", "A condition. `postcondition` has the same arguments."),
	like(condition("resource.lifecycle.postcondition", "A condition that is evaluated after the object was changed.")),
	{
		Path: "resource.provisioner", Rest: ByType, About: "A program to run. The other arguments are those of its type: `local-exec`, `remote-exec` or `file`.",
		Arguments: []Argument{word("when", "`create` or `destroy`", "create", "destroy"), word("on_failure", "`fail` or `continue`", "fail", "continue")},
		Blocks:    []Nested{one("connection", "resource.connection", "how to reach a machine, in place of the block of the resource"), refused("lifecycle")},
		Types:     []Block{localExec, remoteExec, file},
	},
	{Path: "resource.connection", About: "How provisioners reach a machine: with SSH.", Arguments: connection},
}

var output = arg("output", "string", "`masked` shows the output without the secrets in it, where it would be suppressed").values("masked")

var localExec = Block{Path: "local-exec", About: "Runs a command on this machine.", Arguments: []Argument{
	arg("command", "string", "the command").required(), arg("interpreter", "list(string)", "the program, with arguments, that gets the command as its last argument; a shell if absent"),
	arg("working_dir", "string", "where it runs"), arg("environment", "map(string)", "environment variables for it"), arg("quiet", "bool", "`true` does not show the command"), output,
}}

var remoteExec = Block{Path: "remote-exec", About: "Runs commands or scripts on the machine. It has one of the arguments `inline`, `script` and `scripts`.", Arguments: []Argument{
	arg("inline", "list(string)", "the commands"), arg("script", "string", "a script on this machine"), arg("scripts", "list(string)", "scripts on this machine, in their order"), output,
}}

var file = Block{Path: "file", About: "Uploads a file or directory. It has one of the arguments `source` and `content`.", Arguments: []Argument{
	arg("source", "string", "a file or directory on this machine"), arg("content", "string", "the text of the file"), arg("destination", "string", "its name on the machine").required(),
}}

// winRM is about an argument of connections that are not made.
const winRM = "for WinRM, which is refused"

var connection = []Argument{
	arg("type", "string", "the way to connect").values("ssh"), arg("host", "string", "the address of the machine").required(), arg("port", "number", "its port; 22 if absent"),
	arg("user", "string", "the user to log in as; `root` if absent"), arg("password", "string", "the user's password").secret(),
	arg("private_key", "string", "the user's private key").secret(), arg("certificate", "string", "a signed certificate for the private key"),
	arg("agent", "bool", "`false` does not use the SSH agent"), arg("agent_identity", "string", "the preferred identity of the SSH agent"),
	arg("host_key", "string", "the public key of the machine, or of the authority that signed it"), arg("timeout", "string", "how long to try, such as `5m`"),
	arg("script_path", "string", "where scripts are put on the machine"), arg("target_platform", "string", "the system of the machine").values("unix", "windows"),
	arg("bastion_host", "string", "the address of a machine to connect through"), arg("bastion_port", "number", "its port; `port` if absent"),
	arg("bastion_user", "string", "the user there; `user` if absent"), arg("bastion_password", "string", "the password there; `password` if absent").secret(),
	arg("bastion_private_key", "string", "the private key there; `private_key` if absent").secret(), arg("bastion_certificate", "string", "a signed certificate for that key"),
	arg("bastion_host_key", "string", "the public key of that machine"),
	arg("proxy_scheme", "string", "the protocol of a proxy").values("http", "https", "socks5"), arg("proxy_host", "string", "the address of a proxy"), arg("proxy_port", "number", "its port"),
	arg("proxy_user_name", "string", "the user of the proxy"), arg("proxy_user_password", "string", "the password of that user").secret(),
	arg("https", "bool", winRM).deprecated(), arg("insecure", "bool", winRM).deprecated(), arg("use_ntlm", "bool", winRM).deprecated(), arg("cacert", "string", winRM).deprecated(),
}
