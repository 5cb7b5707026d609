package config

import (
	"bytes"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// Encryption says how states and saved plans are encrypted. Its arguments are not evaluated, and the blocks
// that its references name need not exist: the environment may complete it, see Merge. Key providers and
// methods are found by following references from the targets; a declared but unused one is never evaluated.
//
//	encryption {
//	  key_provider "pbkdf2" "main" { passphrase = var.passphrase }
//	  method "aes_gcm" "main" { keys = key_provider.pbkdf2.main }
//	  state { method = method.aes_gcm.main }
//	}
type Encryption struct {
	KeyProviders map[EncryptionName]*EncryptionBlock
	Methods      map[EncryptionName]*EncryptionBlock
	State, Plan  *EncryptionTarget // nil without a block
	// Remotes are for data sources that read other states: by the name that remote_state_data_source gives
	// them, and "" for the default.
	Remotes map[string]*EncryptionTarget
	Range   hcl.Range
}

// EncryptionName is the type and the name of a key provider or of a method. References contain it:
// key_provider.TYPE.NAME or method.TYPE.NAME.
type EncryptionName struct{ Type, Name string }

// EncryptionBlock declares a key provider or a method.
type EncryptionBlock struct {
	EncryptionName
	Attrs hcl.Attributes
	Range hcl.Range
}

// EncryptionTarget says how one kind of file is encrypted. Its arguments are "method" and "enforced", each of
// which may be absent. Files are decrypted with the method, and with the fallback's if that fails: so keys
// are exchanged. They are always encrypted with the method.
type EncryptionTarget struct {
	Attrs    hcl.Attributes
	Fallback *EncryptionTarget // nil for none
	Range    hcl.Range
}

// The schemas of an encryption block and its parts. A fallback has no "enforced": it is used only to read.
var (
	encryptionSchema = schema("", "key_provider type name", "method type name", "state", "plan", "remote_state_data_sources")
	targetSchema     = schema("method enforced", "fallback")
	fallbackSchema   = schema("method", "fallback")
	remotesSchema    = schema("", "default", "remote_state_data_source name")
)

// ParseEncryption reads the content of an encryption block in either syntax. name stands for the place of
// the text in diagnostics, which do not quote it: it may have keys in it. The syntax is JSON if the first
// character is a brace. With errors, the result may be nil.
func ParseEncryption(src []byte, name string) (*Encryption, diag.List) {
	isJSON := bytes.HasPrefix(bytes.TrimSpace(src), []byte("{"))
	src, diags := checkEncoding(src, name)
	if diags.HasErrors() {
		return nil, diags
	}
	if diags = append(diags, checkBounds(src, name, isJSON)...); diags.HasErrors() {
		return nil, diags
	}
	parse := func() (*hcl.File, hcl.Diagnostics) { return hclsyntax.ParseConfig(src, name, hcl.InitialPos) }
	if isJSON {
		parse = func() (*hcl.File, hcl.Diagnostics) { return hcljson.Parse(src, name) }
	}
	file, hd := parse()
	if hd.HasErrors() {
		return nil, append(diags, diag.FromHCL(hd)...)
	}
	d := &encryptionDecoder{&reader{}}
	e := d.encryption(file.Body, startOf(name))
	return e, append(diags, d.diags...)
}

// rootEncryption decodes an encryption block of the module, of which only the root module's has an effect.
func (d *settingsDecoder) rootEncryption(b *hcl.Block, override bool) {
	if !d.m.Path.IsRoot() {
		d.warnAt(b.DefRange, "Encryption configuration ignored",
			"Only the root module decides how states and saved plans are encrypted. The block in %s has no effect; remove it unless this module is also used on its own.", d.m.Path)
		return
	}
	if first := d.m.Encryption; first != nil && !override {
		d.errorAt(b.DefRange, "Duplicate encryption configuration", "Encryption was already configured at %s. A module may have only one encryption block.", diag.Place(first.Range))
		return
	}
	d.m.Encryption = (&encryptionDecoder{d.reader}).encryption(b.Body, b.DefRange)
}

// encryptionDecoder decodes encryption blocks, of a module or from the environment.
type encryptionDecoder struct{ *reader }

// encryption decodes the body of an encryption block. rng is the place of the block in diagnostics.
func (d *encryptionDecoder) encryption(body hcl.Body, rng hcl.Range) *Encryption {
	e := &Encryption{
		KeyProviders: map[EncryptionName]*EncryptionBlock{}, Methods: map[EncryptionName]*EncryptionBlock{},
		Remotes: map[string]*EncryptionTarget{}, Range: rng,
	}
	content := d.content(body, encryptionSchema)
	for _, b := range content.Blocks {
		switch b.Type {
		case "key_provider":
			d.encryptionBlock(e.KeyProviders, b)
		case "method":
			d.encryptionBlock(e.Methods, b)
		}
	}
	if b := d.single(content, "state", "state block"); b != nil {
		e.State = d.encryptionTarget(b, targetSchema)
	}
	if b := d.single(content, "plan", "plan block"); b != nil {
		e.Plan = d.encryptionTarget(b, targetSchema)
	}
	if b := d.single(content, "remote_state_data_sources", "remote_state_data_sources block"); b != nil {
		d.encryptionRemotes(e.Remotes, b.Body)
	}
	return e
}

// encryptionBlock decodes a key provider or a method. Its arguments depend on the type and are checked where
// that is known; here, only the targets of references are checked.
func (d *encryptionDecoder) encryptionBlock(into map[EncryptionName]*EncryptionBlock, b *hcl.Block) {
	name := EncryptionName{b.Labels[0], b.Labels[1]}
	if first := into[name]; first != nil {
		d.errorAt(b.DefRange, "Duplicate "+b.Type+" block", "There is already a %s %q %q at %s. Give this one another name.", b.Type, name.Type, name.Name, diag.Place(first.Range))
		return
	}
	into[name] = &EncryptionBlock{EncryptionName: name, Attrs: d.encryptionArguments(b.Body), Range: b.DefRange}
	for _, attr := range inOrder(into[name].Attrs) {
		d.knownEarly(attr.Expr)
	}
}

// encryptionArguments returns the arguments of a key provider or a method. A block "endpoints", which
// OpenTofu has in aws_kms, is an argument with an object.
func (d *encryptionDecoder) encryptionArguments(body hcl.Body) hcl.Attributes {
	const endpoints = "endpoints"
	attrs, _ := body.JustAttributes()
	if attrs[endpoints] != nil { // in JSON, an object is an argument already
		return d.attributes(body)
	}
	s := &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: endpoints}}}
	for _, attr := range inOrder(attrs) {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: attr.Name})
	}
	content := d.content(body, s)
	attrs = content.Attributes
	if b := d.single(content, endpoints, "endpoints block"); b != nil {
		object := &hclsyntax.ObjectConsExpr{SrcRange: b.DefRange, OpenRange: b.DefRange}
		for _, attr := range inOrder(d.attributes(b.Body)) {
			key := &hclsyntax.LiteralValueExpr{Val: cty.StringVal(attr.Name), SrcRange: attr.NameRange}
			if value, ok := attr.Expr.(hclsyntax.Expression); ok {
				object.Items = append(object.Items, hclsyntax.ObjectConsItem{KeyExpr: key, ValueExpr: value})
			}
		}
		attrs[endpoints] = &hcl.Attribute{Name: endpoints, Expr: object, Range: b.DefRange, NameRange: b.TypeRange}
	}
	return attrs
}

// early are the objects that expressions may refer to before the state can be read.
var early = []lang.Kind{lang.Variable, lang.Local, lang.Path, lang.Terraform}

// knownEarly reports references to values that are not known before the state can be read. References to key
// providers are checked when they are followed.
func (d *encryptionDecoder) knownEarly(expr hcl.Expression) {
	for _, t := range expr.Variables() {
		ref, diags := lang.ParseRef(t)
		if t.RootName() != "key_provider" && !diags.HasErrors() && !slices.Contains(early, ref.Kind) {
			d.errorAt(ref.Range, "Value not known in time",
				"How the state is encrypted must be known before anything is planned, so %s cannot be used here. Use only variables, local values made from these, path.module, path.root, path.cwd, terraform.workspace, and functions.", ref)
		}
	}
}

// encryptionTarget decodes a target and its chain of fallbacks. Every fallback may have another one, so
// keys can be exchanged several times before all files are rewritten.
func (d *encryptionDecoder) encryptionTarget(b *hcl.Block, s *hcl.BodySchema) *EncryptionTarget {
	content := d.content(b.Body, s)
	t := &EncryptionTarget{Attrs: content.Attributes, Range: b.DefRange}
	if fallback := d.single(content, "fallback", "fallback block"); fallback != nil {
		t.Fallback = d.encryptionTarget(fallback, fallbackSchema)
	}
	return t
}

// encryptionRemotes decodes the encryption of other configurations' states: by the name of a data source, and
// by "" for all others.
func (d *encryptionDecoder) encryptionRemotes(into map[string]*EncryptionTarget, body hcl.Body) {
	content := d.content(body, remotesSchema)
	if b := d.single(content, "default", "default block"); b != nil {
		into[""] = d.encryptionTarget(b, fallbackSchema)
	}
	for _, b := range content.Blocks {
		if b.Type != "remote_state_data_source" {
			continue
		}
		name := b.Labels[0]
		if first := into[name]; first != nil || name == "" {
			d.errorAt(b.DefRange, "Invalid remote_state_data_source block", "Each block needs the name of another data source, such as \"name\" or \"module.name\".")
			continue
		}
		into[name] = d.encryptionTarget(b, fallbackSchema)
	}
}

// Merge returns e with the arguments of over in place of its own, argument by argument. Either may be nil. It
// is used for the environment, whose configuration takes precedence over files. The result may share blocks
// with e and over, which are not changed.
func (e *Encryption) Merge(over *Encryption) *Encryption {
	if e == nil || over == nil {
		if e == nil {
			return over
		}
		return e
	}
	out := &Encryption{
		KeyProviders: mergeBlocks(e.KeyProviders, over.KeyProviders), Methods: mergeBlocks(e.Methods, over.Methods),
		State: e.State.merge(over.State), Plan: e.Plan.merge(over.Plan), Remotes: maps.Clone(e.Remotes), Range: e.Range,
	}
	for name, t := range over.Remotes {
		out.Remotes[name] = out.Remotes[name].merge(t)
	}
	return out
}

// mergeBlocks adds blocks to others, and merges blocks of the same name argument by argument.
func mergeBlocks(under, over map[EncryptionName]*EncryptionBlock) map[EncryptionName]*EncryptionBlock {
	out := maps.Clone(under)
	for name, b := range over {
		if base := out[name]; base != nil {
			b = &EncryptionBlock{EncryptionName: name, Attrs: mergeAttrs(base.Attrs, b.Attrs), Range: b.Range}
		}
		out[name] = b
	}
	return out
}

func (t *EncryptionTarget) merge(over *EncryptionTarget) *EncryptionTarget {
	if t == nil || over == nil {
		if t == nil {
			return over
		}
		return t
	}
	return &EncryptionTarget{Attrs: mergeAttrs(t.Attrs, over.Attrs), Fallback: t.Fallback.merge(over.Fallback), Range: over.Range}
}

func mergeAttrs(under, over hcl.Attributes) hcl.Attributes {
	out := maps.Clone(under)
	maps.Copy(out, over)
	return out
}
