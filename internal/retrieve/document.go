package retrieve

import (
	"strings"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
)

// NewDocument makes the document of a page of a session of that project. text is
// its body and args the arguments of its call, "" where it has none; both
// masked. It reports false for what is never indexed: the constant prefix, and
// text that Quire itself put into a prompt. A framed passage inside other text
// is left out of it (see [Frame]).
func NewDocument(r *quire.Row, project, text, args string) (index.Document, bool) {
	if r.Kind == quire.PageSystem || OwnTool(r.Tool) {
		return index.Document{}, false
	}
	bare := Unframed(text)
	if bare == "" && text != "" {
		return index.Document{}, false
	}
	d := index.Document{
		Session: r.Session, Page: r.Number,
		Access: index.Access{Owner: r.Owner, ACL: r.ACL, Scope: r.Scope, Project: project},
	}
	d.Fields[index.FieldBody] = bare
	d.Fields[index.FieldPath], d.Fields[index.FieldCommand] = about(r, args)
	d.Fields[index.FieldSymbol] = strings.Join(definitions(r.Class, bare), "\n")
	return d, true
}

// about says which path a page is about, and what else its call said. Long
// arguments are what the model wrote, not what it asked: of those only the
// target counts.
func about(r *quire.Row, args string) (path, command string) {
	switch r.Action {
	case quire.ActionRead, quire.ActionWrite, quire.ActionEdit, quire.ActionList:
		return r.Target, r.Tool + "\n" + args
	case quire.ActionNone:
		if r.Tool == "" {
			return r.Target, ""
		}
	}
	if args == "" {
		args = r.Target
	}
	return "", r.Tool + "\n" + args
}
