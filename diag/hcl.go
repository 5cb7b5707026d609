package diag

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// ToHCL converts diagnostics for callers that expect HCL's. FromHCL returns them as they were.
func (l List) ToHCL() hcl.Diagnostics {
	var out hcl.Diagnostics
	for _, d := range l {
		severity := hcl.DiagError
		if d.Severity == Warning {
			severity = hcl.DiagWarning
		}
		out = append(out, &hcl.Diagnostic{Severity: severity, Summary: d.Summary, Detail: d.Detail, Subject: d.Subject, Context: d.Context, Extra: original{d}})
	}
	return out
}

// original is the Extra of a diagnostic that was converted by ToHCL.
type original struct{ Diagnostic }

// FromHCL converts diagnostics of HCL's packages.
func FromHCL(in hcl.Diagnostics) List {
	var l List
	for _, d := range in {
		if d == nil {
			continue
		}
		if own, ok := d.Extra.(original); ok {
			l = append(l, own.Diagnostic)
			continue
		}
		sev := Error
		if d.Severity == hcl.DiagWarning {
			sev = Warning
		}
		converted := Diagnostic{
			Severity: sev, Summary: d.Summary, Detail: TypeWords(shortPlaces(d.Detail)), Subject: d.Subject, Context: d.Context,
			Expression: d.Expression, EvalContext: d.EvalContext, Extra: d.Extra,
		}
		if call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d); ok {
			if text, ok := errors.AsType[*TextError](call.FunctionCallError()); ok {
				converted = text.called(d)
			}
		}
		if detail, ok := unknownFunction(d); ok {
			converted.Detail = detail
		}
		l = append(l, converted)
	}
	return l
}

// TextError is the error of a function that found a mistake in a text passed to it, such as a template.
// FromHCL turns it into a diagnostic about that text instead of the call.
type TextError struct {
	Diagnostic
	By  *hcl.Range // the call in another text that made the function read this one; nil if none
	Err error      // the underlying error, for errors.Is; may be nil
}

// Error implements error.
func (e *TextError) Error() string { return strings.TrimSuffix(e.String(), ".") }

// Unwrap returns Err.
func (e *TextError) Unwrap() error { return e.Err }

// called returns the diagnostic, with the place of the call from d.
func (e *TextError) called(d *hcl.Diagnostic) Diagnostic {
	out := e.Diagnostic
	if d.Expression == nil {
		return out
	}
	call := d.Expression.Range()
	if e.By != nil {
		out.Detail += fmt.Sprintf(" The template is rendered by the one at %s, which is rendered at %s.", Place(*e.By), Place(call))
	} else {
		out.Detail += fmt.Sprintf(" The template is rendered at %s.", Place(call))
	}
	return out
}
