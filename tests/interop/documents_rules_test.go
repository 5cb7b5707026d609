package interop

import (
	"regexp"

	"github.com/mayfly-iac/mayfly/tests/internal/documents"
)

func differs(document, path, why string) documents.Rule {
	r := documents.Rule{Path: regexp.MustCompile(path), Why: why}
	if document != "" {
		r.Document = regexp.MustCompile(document)
	}
	return r
}

func added(document, path, why string) documents.Rule {
	r := differs(document, path, why)
	r.Added = true
	return r
}

// deliberate are the places at which the documents differ on purpose. Documents are named "CASE: NN COMMAND".
var deliberate = []documents.Rule{
	// What the program is.
	differs("", `\.@module$`, "messages name the program"),
	differs("", `\.@message$`, "texts for people are our own"),
	differs("", `mayfly(_version)?$`, "the product's own version stands beside the compatible one"),
	differs("", `^<version>\[0\]\.(terraform|tofu)$`, "both names are there, for clients of either engine"),
	differs("", `terraform_version$`, "a build from source calls itself -dev"),
	differs("", `\.(applyable|complete)$`, "clients of Terraform look for them"),

	// Ephemerality.
	differs("", `^<ephemeral_(action|op)_`, "each phase of an ephemeral instance has a message with its action"),
	differs("", `\.ephemeral_variables$`, "what must be given again to apply the plan"),
	differs("", `^\.variables(\.\w+)?$`, "ephemeral variables have no value in a document, their defaults neither"),
	differs("ephemeral: ", `checks|relevant_attributes|depends_on|^\.configuration.*resources`, "ephemeral resources have no part in results, changes and states"),
	differs("", `\.input_wo(_version)?$`, "terraform_data has a write-only argument"),

	// Values.
	differs("var-types: ", `^\.variables\.\w+\.value$`, "variables have the type that they are declared with"),
	differs("", `^\.prior_state(\.values\.outputs.*)?$`, "the prior state has the outputs before the plan, not after it"),
	differs("(removed|forget-lifecycle): ", `^\.planned_values`, "what is forgotten is not among the planned values"),
	differs("json-syntax: ", `\.constant_value$`, "a template of the JSON syntax is no constant"),
	added("", `^\.planned_values\..*sensitive_values\.(secret_wo|result|bcrypt_hash|private_key_\w+|sensitive_content)$`, "what the schema calls sensitive is flagged also where it is unknown, or the object is replaced"),
	differs("(state-commands|sensitive-nested): ", `(sensitive_values|_sensitive)\.output(\.|\[|$)`, "the output of a terraform_data is as sensitive as its input"),
	differs("(relevant|lifecycle): (02|04) ", `^<planned_change \S+ create>\[0\]\.change\.reason$`, "what is created is not replaced for a reason"),
	differs("(relevant|lifecycle): 03 ", `^\.resource_changes\[(6|7|14)\]\.action_reason$`, "what is created is not replaced for a reason"),
	differs("import-generate: .* plan", `^<diagnostic warning>$`, "generating configuration is no experiment"),
	added("import-generate: ", `^\.configuration\.root_module\.resources$`, "the configuration of a plan has what was generated for it"),
	differs("", `\.(after|before)_identity$`, "what does not exist has no identity"),
	differs("", `depends_on(\[\d+\])?$`, "the state records direct dependencies"),

	differs("(random|tls|provider-alias): ", `\.(id|id_value)$|\.pw\.|computed_list\[`, "drawn at random by providers, or by the order of concurrent work"),
	differs("deposed: ", `schema_version$`, "deposed objects have a version like any"),
	differs("big-values: ", `\[3\]$`, "minus zero is zero"),
	differs("(check|data|module-data-depends|local): ", `^\.checks|^\.(prior_state\.)?values|^\.output_changes\.c\.before|^\[\d\]$`, "a check's data source that could not be read leaves no object; a data source that depends on a change keeps its result until it is read"),

	// Messages.
	differs("", `\.resource\.deposed$`, "deposed objects are told apart"),
	differs("", `^<apply_errored`, "every operation that was started and failed is told of"),
	added("", `\.(subject|range|snippet)$`, "problems name their instance and place where the other engine has nothing to say of them"),
	differs("init", `^<diagnostic warning>(\[\d+\])?$`, "checksums of one platform are no reason for a warning: that of a mirror is what there is"),
	differs("undeclared: 02 plan", `^<diagnostic error>`, "what the command line sets comes before what it leaves out"),
	differs("null: .* (plan|apply)|deprecated: .* plan", `^<diagnostic warning>`, "what is deprecated is warned of once, where it is written, and not for the values made of it"),
	added("provisioners: ", `^<diagnostic warning>`, "a provisioner that may fail is told of when it does"),
	added("replace-request: ", `^<diagnostic warning>`, "a request that matches nothing is told of"),
	differs("validate-more: ", `\[1\]\.(diagnostic\.)?range$`, "of two arguments that exclude each other, the second is pointed at"),
	added("(validate-more|errored-plan): .* validate", `^\.diagnostics\[2\]$`, "more is found at once"),
	differs("(validate-more|errored-plan): .* validate", `^\.error_count$|^\.diagnostics\[1\]\.range$`, "more is found at once"),
	differs("errored-plan: 06 plan", `^<diagnostic error>\[[12]\]`, "planning reports what validating finds, which is more at once"),
	differs("errored-plan: (07 validate|08 plan)", `^(\.diagnostics|<diagnostic error>)\[[12]\]$`, "a quote that is not closed is one error"),
	differs("init", `^<>`, "texts for people are our own"),
	differs("", `^<>$`, "texts for people are our own"),
	differs("metadata functions", `\.description$`, "descriptions are our own"),
	differs("metadata functions", `contains\.parameters\[1\]\.is_nullable$`, "null is found like any element"),
	differs("providers schema", `\.(description|summary|is_nullable)$|input_wo|terraform\.provider\.block`, "descriptions are our own, and terraform_data has a write-only argument"),
	differs("(removed|forget-lifecycle): ", `^<refresh_`, "what is forgotten is not read"),
	differs("forget-lifecycle: ", `^<planned_change|^<change_summary`, "a replacement that forgets the old object is told as one"),
	differs("(local|data): .*-destroy", `^<apply_(start|complete) data`, "what is destroyed needs no data source"),
	differs("target: .*-destroy|target: 13", `b>$|outputs|output_changes|relevant`, "an output of what is destroyed goes with it, also if it alone is targeted"),
	differs("sensitive-nested: ", `sim_thing\.u|change_summary`, "an object that differs in what is sensitive only is not sent to its provider"),
	differs("sim-drift: ", `\.st\.`, "an output of an object that is made anew has the new value"),
	differs("check: ", `^\.output_changes|outputs`, "the plan ended with an error"),
}
