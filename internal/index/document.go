package index

import (
	"math"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A Field is a part of a document that is weighed by itself.
type Field uint8

// The fields.
const (
	FieldPath    Field = iota // the path that the page is about
	FieldSymbol               // names that the page defines
	FieldCommand              // the tool and what it was asked
	FieldBody                 // everything that the page says
	fieldCount
)

var fieldNames = [fieldCount]string{"path", "symbol", "command", "body"}

// String names the field.
func (f Field) String() string {
	if f < fieldCount {
		return fieldNames[f]
	}
	return "unknown"
}

// A Document is a page as it is indexed. Its texts are the masked ones: what is
// a secret cannot be found.
type Document struct {
	Session quire.SessionNumber
	Page    quire.PageNumber
	Access  Access
	Fields  [fieldCount]string
}

// Access is what decides who may find a document.
type Access struct {
	Owner   quire.Principal   `json:"owner"`
	ACL     []quire.Principal `json:"acl,omitempty"`
	Scope   quire.Scope       `json:"scope"`
	Project string            `json:"project,omitempty"` // of the session
}

// row is a row with the access of this one and nothing else.
func (a *Access) row() quire.Row { return quire.Row{Owner: a.Owner, ACL: a.ACL, Scope: a.Scope} }

// key tells accesses apart.
func (a *Access) key() string {
	var b strings.Builder
	for _, s := range []string{string(a.Owner), string(a.Scope), a.Project} {
		b.WriteString(s + "\x00")
	}
	for _, p := range a.ACL {
		b.WriteString(string(p) + "\x00")
	}
	return b.String()
}

// lengthOf and lengthByte keep the length of a field in one byte, eight steps
// to a doubling: within 5 % of what it was.
func lengthByte(n int) uint8 { return uint8(min(math.Round(8*math.Log2(1+float64(n))), 255)) }

func lengthOf(b uint8) float64 { return math.Exp2(float64(b)/8) - 1 }
