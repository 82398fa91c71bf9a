package curation

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// A placed is a block of an assembled call with where it is from: -1 for what Quire
// put in, and for what stands in another form.
type placed struct {
	role  quire.Role
	block quire.Block
	tag   int
	loose bool // it is written anew
}

// render makes the list of an assembled call: elements that stand whole as they
// came, the others anew.
func (m *Mirror) render(messages []quire.Message) ([]json.RawMessage, error) {
	var flat []placed
	for i := range messages {
		for _, b := range messages[i].Blocks {
			flat = append(flat, m.placed(messages[i].Role, b))
		}
	}
	if m.dialect.joins {
		m.loosen(flat)
	}
	var out []json.RawMessage
	var loose []placed
	for i := 0; i < len(flat); {
		raw, n := m.whole(flat[i:])
		if n == 0 {
			loose = append(loose, flat[i])
			i++
			continue
		}
		made, err := m.loose(loose)
		if err != nil {
			return nil, err
		}
		out, loose = append(append(out, made...), raw), nil
		i += n
	}
	made, err := m.loose(loose)
	return append(out, made...), err
}

// loosen marks results that stand behind each other and came in several elements:
// all of one answer have to stand in one. So do, for Anthropic, words behind them:
// they say that the loop is over.
func (m *Mirror) loosen(flat []placed) {
	for i := 0; i < len(flat); {
		end, mixed := i, false
		for end < len(flat) && flat[end].role == quire.RoleTool {
			mixed = mixed || !m.sameItem(&flat[i], &flat[end])
			end++
		}
		for end > i && m.dialect.marks && end < len(flat) && flat[end].role == quire.RoleUser && !m.sameItem(&flat[i], &flat[end]) {
			mixed = true
			end++
		}
		for j := i; mixed && j < end; j++ {
			flat[j].loose = true
		}
		i = max(end, i+1)
	}
}

func (m *Mirror) sameItem(a, b *placed) bool {
	return a.tag >= 0 && b.tag >= 0 && m.blocks[a.tag].item == m.blocks[b.tag].item
}

// placed takes the tag off a block.
func (m *Mirror) placed(role quire.Role, b quire.Block) placed {
	p := placed{role: role, tag: -1}
	if n := len(b.Rest); n > 0 && b.Rest[n-1].Name == tag {
		p.tag, _ = strconv.Atoi(string(b.Rest[n-1].Value))
		b.Rest = b.Rest[:n-1]
	}
	if m.bare {
		b.Cache = quire.MarkNone
	}
	if len(b.Content) > 0 {
		b.Content = slices.Clone(b.Content)
		for i := range b.Content {
			b.Content[i] = m.placed(role, b.Content[i]).block
		}
	}
	p.block = b
	return p
}

// whole is the element that a run of blocks is, if they are all of it, as it was,
// and how many blocks that are.
func (m *Mirror) whole(flat []placed) (json.RawMessage, int) {
	if flat[0].tag < 0 || flat[0].loose {
		return nil, 0
	}
	item := m.blocks[flat[0].tag].item
	it := &m.items[item]
	mark, at := quire.MarkNone, 0
	n := max(1, len(it.Blocks))
	if m.blocks[flat[0].tag].block < 0 {
		n = 1
	}
	if len(flat) < n {
		return nil, 0
	}
	for i := range n {
		if !m.stands(&flat[i], item, i) {
			return nil, 0
		}
		if c := flat[i].block.Cache; c != quire.MarkNone {
			mark, at = c, i
		}
	}
	if mark == quire.MarkNone {
		return it.Raw, n
	}
	return marked(it.Raw, at, mark), n
}

// stands reports whether a block is block i of an item, and as it entered.
func (m *Mirror) stands(p *placed, item, i int) bool {
	if p.tag < 0 || p.loose {
		return false
	}
	o := &m.blocks[p.tag]
	if o.item != item || o.block != i && o.block >= 0 || p.block.Opaque == nil && p.block.Text != o.whole.Text && len(p.block.Content) == 0 {
		return false
	}
	if o.block < 0 {
		return true
	}
	was := &m.items[item].Blocks[i]
	return m.sameContent(&p.block, was) && p.block.Signature == was.Signature
}

// sameContent reports whether a result holds what it held: the assembler puts its
// media back behind its text, and what else it puts in makes it another one.
func (m *Mirror) sameContent(b, was *quire.Block) bool {
	if len(b.Content) == 0 || was.Kind != quire.PartToolResult {
		return len(b.Content) == len(was.Content) || !slices.ContainsFunc(was.Content, func(c quire.Block) bool { return isMedia(&c) })
	}
	text := Parts(was, quire.PartMachine)[0].Text
	texts, media := "", 0
	for i := range b.Content {
		if isMedia(&b.Content[i]) {
			media++
			continue
		}
		texts += b.Content[i].Text
	}
	want := 0
	for i := range was.Content {
		if isMedia(&was.Content[i]) {
			want++
		}
	}
	return media == want && texts == text
}

// loose writes blocks anew, as elements.
func (m *Mirror) loose(list []placed) ([]json.RawMessage, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var messages []quire.Message
	for i := range list {
		p := &list[i]
		role := p.role
		if m.dialect.joins && role == quire.RoleTool {
			role = quire.RoleUser
		}
		rest := m.restOf(p)
		last := len(messages) - 1
		if last < 0 || messages[last].Role != role || m.apart(p, &list[i-1]) {
			messages = append(messages, quire.Message{Role: role, Rest: rest.Rest, ID: rest.ID})
			last++
		}
		messages[last].Blocks = append(messages[last].Blocks, m.signed(p))
	}
	return m.elements(messages)
}

// signed is a block, with what stands in the place of a signature that was taken off a
// call, where calls want one.
func (m *Mirror) signed(p *placed) quire.Block {
	if p.tag < 0 || p.block.Kind != quire.PartToolCall || p.block.Opaque != nil || p.block.Signature != "" {
		return p.block
	}
	b := p.block
	if o := &m.blocks[p.tag]; o.block >= 0 && m.items[o.item].Blocks[o.block].Signature != "" {
		b.Signature = m.dialect.unsigned
	}
	return b
}

// apart reports whether two blocks of one role are in messages of their own, whose
// other members differ. Results of one answer stand in one, whatever those are.
func (m *Mirror) apart(p, before *placed) bool {
	if m.dialect.joins && p.role == quire.RoleTool && before.role == quire.RoleTool {
		return false
	}
	a, b := m.restOf(p), m.restOf(before)
	return a.ID != b.ID || len(a.Rest) != len(b.Rest)
}

func (m *Mirror) restOf(p *placed) Item {
	if p.tag < 0 {
		return Item{}
	}
	return m.items[m.blocks[p.tag].item]
}

// elements writes messages. Where it matters which call a result answers, the
// calls are written in front and taken off again.
func (m *Mirror) elements(messages []quire.Message) ([]json.RawMessage, error) {
	if !m.dialect.context {
		return m.dialect.elements(messages)
	}
	var before []quire.Block
	for i := range messages {
		for _, b := range messages[i].Blocks {
			if c, ok := m.calls[b.ToolUse]; ok && b.Kind == quire.PartToolResult {
				before = append(before, c)
			}
		}
	}
	if len(before) == 0 || messages[0].Role == quire.RoleAssistant {
		before = append(before[:0], quire.Block{Part: quire.Part{Kind: quire.PartText, Text: "."}})
		return m.behind([]quire.Message{{Role: quire.RoleAssistant, Blocks: before}, {Role: quire.RoleUser, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartUser, Text: "."}}}}}, messages)
	}
	return m.behind([]quire.Message{{Role: quire.RoleAssistant, Blocks: before}}, messages)
}

// behind writes messages behind others, without those.
func (m *Mirror) behind(before, messages []quire.Message) ([]json.RawMessage, error) {
	front, err := m.dialect.elements(before)
	if err != nil {
		return nil, err
	}
	all, err := m.dialect.elements(slices.Concat(before, messages))
	if err != nil || len(all) < len(front) {
		return nil, err
	}
	return all[len(front):], nil
}

// Joined is the list as one value.
func Joined(list []json.RawMessage) json.RawMessage { return rawjson.Array(list) }
