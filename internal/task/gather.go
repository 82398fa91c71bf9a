package task

import (
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// gathered is a turn by its features.
type gathered struct {
	user  string // how the message of the user begins
	roots bag    // what came from outside of the turn
	own   bag    // what was called or said in it
	seen  bag    // what its results showed
	pages []visit
}

// A visit is a page that a call of the turn made, with the call.
type visit struct {
	page quire.PageNumber
	call int
}

// maxOpening is how much is kept of a message, in bytes.
const maxOpening = 200

// gather is what a turn is about. What a call names that an earlier result of the
// turn showed is no root: every search finds something new.
func gather(turn Turn) *gathered {
	g := &gathered{}
	g.asked(turn.User)
	for _, t := range turn.Touched {
		g.called(&t.Page, t.Args)
		g.seen.result(t.Result)
	}
	g.said(turn.Said)
	return g
}

// asked takes a message of the user.
func (g *gathered) asked(text string) {
	g.user = opening(g.user + "\n" + text)
	g.roots.user(text)
}

// opening is the beginning of a message. One that is longer is no reply of a word.
func opening(user string) string {
	user = strings.TrimSpace(user)
	return strings.Clone(user[:min(len(user), maxOpening)])
}

// said takes a text of the model.
func (g *gathered) said(text string) { g.own.user(text[max(0, len(text)-maxSaid):]) }

// called takes a tool call.
func (g *gathered) called(p *quire.Page, args string) {
	var b bag
	b.call(p, args)
	for k := range kinds {
		for _, name := range b.list[k] {
			if !g.seen.has[k][name] {
				g.roots.add(k, name)
			}
			g.own.add(k, name)
		}
	}
	g.pages = append(g.pages, visit{p.Number, p.Call})
}

// pooled are the roots of several turns. What a turn showed or called is no root
// of the next.
func pooled(turns []*gathered) *bag {
	if len(turns) == 1 {
		return &turns[0].roots
	}
	all := &bag{}
	for i, g := range turns {
		for k := range kinds {
			for _, name := range g.roots.list[k] {
				if i == 0 || !turns[i-1].seen.has[k][name] && !turns[i-1].own.has[k][name] {
					all.add(k, name)
				}
			}
		}
	}
	return all
}
