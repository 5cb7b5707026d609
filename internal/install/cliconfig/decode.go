package cliconfig

import (
	"math/big"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/opentofu/svchost"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/compat"
	"github.com/mayfly-iac/mayfly/internal/install/internal/plainhcl"
)

// schema describes a body: names of arguments, and blocks as "type label".
func schema(attrs string, blocks ...string) *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for _, name := range strings.Fields(attrs) {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name})
	}
	for _, b := range blocks {
		words := strings.Fields(b)
		s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: words[0], LabelNames: words[1:]})
	}
	return s
}

var (
	topSchema = schema(engineArgument+" plugin_cache_dir plugin_cache_may_break_dependency_lock_file disable_checkpoint disable_checkpoint_signature",
		"credentials host", "credentials_helper name", "host name", "provider_installation", "providers", "provisioners",
		"oci_default_credentials", "oci_credentials repository", "registry_protocols")
	credentialsSchema = schema("token")
	helperSchema      = schema("args")
	hostSchema        = schema("services")
	registrySchema    = schema("retry_count request_timeout_seconds")
	ociDefaultSchema  = schema("discover_ambient_credentials docker_style_config_files docker_credentials_helper")
	ociSchema         = schema("username password access_token refresh_token docker_credentials_helper")
)

// decode reads the body of one file. Unknown content only gives warnings, because the files are shared with
// other programs and versions.
func (l *loader) decode(body hcl.Body) {
	content, rest, hd := body.PartialContent(topSchema)
	if hcljson.IsJSONBody(body) {
		// An object of blocks may be empty, such as the credentials after the last one is removed. HCL would
		// require a label then.
		hd = slices.DeleteFunc(hd, func(d *hcl.Diagnostic) bool { return d.Summary == "Missing block label" })
	}
	l.add(plainhcl.Blind(hd))
	l.warnUnknown(rest)
	l.settings(content.Attributes)
	for _, b := range content.Blocks {
		l.block(b)
	}
}

// warnUnknown warns about the unused content of a body.
func (l *loader) warnUnknown(rest hcl.Body) {
	_, hd := rest.Content(&hcl.BodySchema{})
	unknown := plainhcl.Blind(hd).AsWarnings()
	for i := range unknown {
		unknown[i].Summary = "Unknown setting in CLI configuration"
		unknown[i].Detail += " It is ignored."
	}
	l.add(unknown)
}

// readKnown reads the part of a body that the schema describes, and warns about the rest.
func (l *loader) readKnown(body hcl.Body, s *hcl.BodySchema) *hcl.BodyContent {
	content, rest, hd := body.PartialContent(s)
	l.add(plainhcl.Blind(hd))
	l.warnUnknown(rest)
	return content
}

// settings reads the arguments at the top level.
func (l *loader) settings(attrs hcl.Attributes) {
	c := l.config
	if s, ok := l.text(attrs["plugin_cache_dir"]); ok {
		c.PluginCacheDir = l.env.expand(s)
	}
	l.compatibility(attrs[engineArgument])
	l.flag(attrs["plugin_cache_may_break_dependency_lock_file"], &c.PluginCacheMayBreakLockFile)
	l.flag(attrs["disable_checkpoint"], &c.DisableCheckpoint)
	l.flag(attrs["disable_checkpoint_signature"], &c.DisableCheckpointSignature)
}

// engineArgument is the name of the argument for the engine that the program is taken for.
const engineArgument = "compatibility"

// compatibility reads that argument.
func (l *loader) compatibility(attr *hcl.Attribute) {
	before := len(l.diags)
	text, ok := l.text(attr)
	explainEngine(l.diags[before:])
	if !ok {
		return
	}
	e, err := compat.Parse(text)
	if err != nil {
		l.errorAt(attr.Expr.Range(), "Invalid value in CLI configuration", "The argument %q is wrong: %s.", engineArgument, err)
		l.diags[len(l.diags)-1].Extra = NoEngine{}
	}
	l.config.Compatible = e
}

// explainEngine adds the form of the value to errors about the engine.
func explainEngine(diags diag.List) {
	for i := range diags {
		diags[i].Detail += " The argument \"" + engineArgument + "\" is terraform-X.Y or opentofu-X.Y in quotes, such as \"terraform-1.16\"."
		diags[i].Extra = NoEngine{}
	}
}

// block reads a block at the top level. Blocks about plugins from before registries only give a warning.
func (l *loader) block(b *hcl.Block) {
	switch b.Type {
	case "credentials":
		l.credentials(b)
	case "credentials_helper":
		l.helper(b)
	case "host":
		l.host(b)
	case "provider_installation":
		l.installation(b)
	case "registry_protocols":
		attrs := l.readKnown(b.Body, registrySchema).Attributes
		l.number(attrs["retry_count"], &l.config.Retries)
		l.number(attrs["request_timeout_seconds"], &l.config.TimeoutSeconds)
	case "oci_default_credentials", "oci_credentials":
		l.oci(b)
	default:
		l.warnAt(b.DefRange, "Ignored block in CLI configuration",
			"Blocks of type %q no longer have an effect. To use plugins from a directory, write a filesystem_mirror block in provider_installation.", b.Type)
	}
}

// content reads a body that must have only the items of the schema.
func (l *loader) content(body hcl.Body, s *hcl.BodySchema) *hcl.BodyContent {
	content, hd := body.Content(s)
	l.add(plainhcl.Blind(hd))
	return content
}

// hostname decodes the label of a block.
func (l *loader) hostname(b *hcl.Block) (svchost.Hostname, bool) {
	host, err := svchost.ForComparison(b.Labels[0])
	if err != nil {
		l.errorAt(b.LabelRanges[0], "Invalid host name", "The %s block has the host name %q, which is not valid: %s.", b.Type, b.Labels[0], err)
		return "", false
	}
	return host, true
}

// credentials reads a token. Of several for one host, the last one read counts.
func (l *loader) credentials(b *hcl.Block) {
	host, ok := l.hostname(b)
	// Hosts may one day need more than a token, and other programs store data in the same files.
	content, _, hd := b.Body.PartialContent(credentialsSchema)
	l.add(plainhcl.Blind(hd))
	token, given := l.text(content.Attributes["token"])
	if ok && given {
		l.config.Credentials[host], l.config.TokenOrigins[host] = NewSecret(token), b.DefRange.Filename
	}
}

// helper reads the credentials_helper block, of all files at most one.
func (l *loader) helper(b *hcl.Block) {
	if first := l.config.CredentialsHelper; first != nil {
		l.errorAt(b.DefRange, "Duplicate credentials helper", "At most one credentials_helper block is allowed; another is at %s.", diag.Place(first.Range))
		return
	}
	h := &CredentialsHelper{Name: b.Labels[0], Range: b.DefRange}
	h.Args, _ = l.list(l.readKnown(b.Body, helperSchema).Attributes["args"])
	l.config.CredentialsHelper = h
}

// host reads the services of a host.
func (l *loader) host(b *hcl.Block) {
	host, ok := l.hostname(b)
	attr := l.readKnown(b.Body, hostSchema).Attributes["services"]
	v, given := l.value(attr)
	if !ok {
		return
	}
	h := Host{Services: map[string]any{}}
	if given && !v.Type().IsObjectType() {
		l.errorAt(attr.Expr.Range(), "Invalid services", "The argument \"services\" must be an object of service names and their addresses.")
		return
	}
	if given {
		h.Services = plain(v).(map[string]any)
	}
	l.config.Hosts[host] = h
}

// plain converts a known value to maps, slices, strings, numbers and booleans.
func plain(v cty.Value) any {
	ty := v.Type()
	switch {
	case v.IsNull():
		return nil
	case ty.IsObjectType() || ty.IsMapType():
		m := map[string]any{}
		for name, elem := range v.AsValueMap() {
			m[name] = plain(elem)
		}
		return m
	case ty.IsTupleType() || ty.IsListType():
		list := []any{}
		for _, elem := range v.AsValueSlice() {
			list = append(list, plain(elem))
		}
		return list
	case ty == cty.Bool:
		return v.True()
	case ty == cty.Number:
		f, _ := v.AsBigFloat().Float64()
		return f
	}
	return v.AsString()
}

// oci reads credentials for OCI registries. Ambient ones, such as Docker's, are looked for unless the block
// says otherwise.
func (l *loader) oci(b *hcl.Block) {
	prefix, s := "", ociDefaultSchema
	if len(b.Labels) > 0 {
		prefix, s = b.Labels[0], ociSchema
	}
	if first, dup := l.config.OCI[prefix]; dup {
		l.errorAt(b.DefRange, "Duplicate OCI credentials", "Credentials for the same repositories are already at %s.", diag.Place(first.Range))
		return
	}
	attrs := l.readKnown(b.Body, s).Attributes
	c := OCICredentials{Range: b.DefRange, DiscoverAmbient: true}
	for name, to := range map[string]*Secret{
		"username": &c.Username, "password": &c.Password,
		"access_token": &c.AccessToken, "refresh_token": &c.RefreshToken,
	} {
		if text, ok := l.text(attrs[name]); ok {
			*to = NewSecret(text)
		}
	}
	c.DockerHelper, _ = l.text(attrs["docker_credentials_helper"])
	l.flag(attrs["discover_ambient_credentials"], &c.DiscoverAmbient)
	c.DockerConfigFiles, _ = l.list(attrs["docker_style_config_files"])
	l.config.OCI[prefix] = c
}

// value evaluates an argument, which may be nil. If ok, the result is known and not null.
func (l *loader) value(attr *hcl.Attribute) (v cty.Value, ok bool) {
	if attr == nil {
		return cty.NilVal, false
	}
	v, hd := attr.Expr.Value(nil)
	if !l.add(plainhcl.Blind(hd)) || v.IsNull() || !v.IsWhollyKnown() {
		return v, false
	}
	if hugeNumber(v) {
		l.errorAt(attr.Expr.Range(), "Invalid value in CLI configuration", "The argument %q has a number that is too large.", attr.Name)
		return v, false
	}
	return v, true
}

// hugeNumber reports whether a number in v has so many digits that converting it to a string would take too
// long.
func hugeNumber(v cty.Value) bool {
	huge := false
	_ = cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
		if v.Type() == cty.Number && !v.IsNull() {
			const mostBits = 1024
			exp := v.AsBigFloat().MantExp(nil)
			huge = huge || exp > mostBits || exp < -mostBits
		}
		return !huge, nil
	})
	return huge
}

// as evaluates an argument and converts it to a type. Errors name the argument but no value.
func (l *loader) as(attr *hcl.Attribute, ty cty.Type) (cty.Value, bool) {
	v, ok := l.value(attr)
	if !ok {
		return v, false
	}
	v, err := convert.Convert(v, ty)
	if err != nil || v.IsNull() {
		l.errorAt(attr.Expr.Range(), "Invalid value in CLI configuration", "The argument %q must be a %s.", attr.Name, ty.FriendlyName())
		return v, false
	}
	return v, true
}

// text reads a string; false if it is absent or invalid.
func (l *loader) text(attr *hcl.Attribute) (string, bool) {
	v, ok := l.as(attr, cty.String)
	if !ok {
		return "", false
	}
	return v.AsString(), true
}

// flag sets *to if the argument is present and valid.
func (l *loader) flag(attr *hcl.Attribute, to *bool) {
	if v, ok := l.as(attr, cty.Bool); ok {
		*to = v.True()
	}
}

// number sets *to to a whole number that is not negative, if the argument is present and valid.
func (l *loader) number(attr *hcl.Attribute, to *int) {
	v, ok := l.as(attr, cty.Number)
	if !ok {
		return
	}
	n, acc := v.AsBigFloat().Int64()
	if acc != big.Exact || n < 0 || n > 1<<30 {
		l.errorAt(attr.Expr.Range(), "Invalid value in CLI configuration", "The argument %q must be a whole number that is not negative.", attr.Name)
		return
	}
	*to = int(n)
}

// list reads a list of strings; false if it is absent or invalid.
func (l *loader) list(attr *hcl.Attribute) ([]string, bool) {
	v, ok := l.as(attr, cty.List(cty.String))
	if !ok {
		return nil, false
	}
	out := make([]string, 0, v.LengthInt())
	for _, elem := range v.AsValueSlice() {
		if elem.IsNull() {
			l.add(diag.At(attr.Expr.Range(), "Invalid value in CLI configuration", "The elements of %q must not be null.", attr.Name))
			return nil, false
		}
		out = append(out, elem.AsString())
	}
	return out, true
}
