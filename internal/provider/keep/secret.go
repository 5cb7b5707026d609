package keep

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/provider/keep/store"
)

// secretRecord is the managed keep_secret. Its value is only written: the ephemeral keep_secret reads it.
var secretRecord = record{
	prefix: secretIDPrefix,
	// Without this, the version would be unknown in the plan of any update, and with it everything that
	// refers to it.
	settled: func(attribute string, prior, planned map[string]cty.Value) bool {
		return attribute != "version" || prior["value_wo_version"].RawEquals(planned["value_wo_version"])
	},
	complete: func(known map[string]cty.Value) bool { return !known["version"].IsNull() },
	read: func(ctx context.Context, kept *store.Store, known map[string]cty.Value) error {
		found, err := kept.Secret(ctx, text(known["name"]))
		if err != nil {
			return err
		}
		known["version"], known["description"] = cty.NumberIntVal(found.Version), fromOptional(found.Description)
		return nil
	},
	create: func(ctx context.Context, kept *store.Store, planned, config map[string]cty.Value) error {
		value, err := writeOnlyValue(config)
		if err != nil {
			return err
		}
		defer clear(value)
		made, err := kept.CreateSecret(ctx, text(planned["name"]), optional(planned["description"]), value)
		planned["version"] = cty.NumberIntVal(made.Version)
		return err
	},
	update: updateSecret,
	remove: (*store.Store).DeleteSecret,
}

// updateSecret stores a new value only if value_wo_version has changed: whether the value itself has, cannot
// be known.
func updateSecret(ctx context.Context, kept *store.Store, planned, prior, config map[string]cty.Value) error {
	var value []byte
	if !planned["value_wo_version"].RawEquals(prior["value_wo_version"]) {
		var err error
		if value, err = writeOnlyValue(config); err != nil {
			return err
		}
	}
	defer clear(value)
	made, err := kept.UpdateSecret(ctx, text(planned["name"]), optional(planned["description"]), value)
	// Keep a planned version, even if another user has stored a value meanwhile: the next refresh shows
	// that as drift.
	if !planned["version"].IsKnown() {
		planned["version"] = cty.NumberIntVal(made.Version)
	}
	return err
}

// writeOnlyValue reads value_wo from the configuration, the only place that ever contains it. Without an
// error, the result is not nil.
func writeOnlyValue(config map[string]cty.Value) ([]byte, error) {
	v := config["value_wo"]
	if v.IsNull() || !v.IsKnown() {
		return nil, &store.Problem{Summary: "No value to store", Detail: "value_wo has no known value at this moment. " +
			"Check what it refers to: an ephemeral value must be available in apply, not only while planning."}
	}
	return append([]byte{}, v.AsString()...), nil
}

// noteRecord is keep_note: a record in the same store whose text is not secret.
var noteRecord = record{
	prefix:   noteIDPrefix,
	settled:  func(string, map[string]cty.Value, map[string]cty.Value) bool { return true },
	complete: func(known map[string]cty.Value) bool { return !known["text"].IsNull() },
	read: func(ctx context.Context, kept *store.Store, known map[string]cty.Value) error {
		found, err := kept.Note(ctx, text(known["name"]))
		if err == nil {
			known["text"] = cty.StringVal(found.Text)
		}
		return err
	},
	create: func(ctx context.Context, kept *store.Store, planned, _ map[string]cty.Value) error {
		return kept.CreateNote(ctx, noteOf(planned))
	},
	update: func(ctx context.Context, kept *store.Store, planned, _, _ map[string]cty.Value) error {
		return kept.UpdateNote(ctx, noteOf(planned))
	},
	remove: (*store.Store).DeleteNote,
}

func noteOf(planned map[string]cty.Value) store.Note {
	return store.Note{Name: text(planned["name"]), Text: text(planned["text"])}
}
