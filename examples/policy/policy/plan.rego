# What is refused of a plan, as "mayfly show -json" writes it.
package main

import rego.v1

# Nothing of these types is destroyed or replaced without a person.
kept := {"keep_secret"}

deny contains message if {
	some change in input.resource_changes
	change.type in kept
	"delete" in change.change.actions
	message := sprintf("%s would be destroyed: have a person apply this", [change.address])
}

# Secrets belong in write-only arguments, which are null in a plan: another one is in the state and in saved plans.
deny contains message if {
	some change in input.resource_changes
	walk(change.change.after_sensitive, [path, true])
	stored(change.change, path)
	argument := concat(".", [sprintf("%v", [step]) | some step in path])
	message := sprintf("%s would store the sensitive argument %q: use a write-only argument", [change.address, argument])
}

# A plan that is not complete says nothing about the rest.
deny contains "the plan is not complete" if not input.complete

stored(change, path) if object.get(change.after, path, null) != null

stored(change, path) if object.get(change.after_unknown, path, false)
