package audit

import (
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
)

// AsRecorded is the name of the policy that [Recorded] makes.
const AsRecorded = "as-recorded"

// Recorded is the policy that the recorded agent followed: its prompts, with
// its summaries, rewinds and what it put back. A replay of it is what other
// replays are to be compared with, because the errors of counting and of the
// cache simulator are in both. It is not an offer, and what its prompts do not
// hold costs nothing more: the recorded calls made do without it.
func Recorded() replay.Policy {
	return replay.Policy{Name: AsRecorded, Start: func(s *recording.Session, _ replay.Setting) replay.Player {
		return &recordedPlayer{s: s, ends: lifetimes(s)}
	}}
}

// recordedPlayer holds the blocks of the prompt sent last, and how many items
// it has seen.
type recordedPlayer struct {
	s      *recording.Session
	ends   []int32 // by item: first call whose prompt no longer holds it
	blocks []replay.Block
	items  int32
}

// Step returns the prompt that the agent sent at call k.
func (p *recordedPlayer) Step(k int) replay.Prompt {
	out := replay.Prompt{Keep: len(p.blocks)}
	if _, cut := p.cutAt(k); cut {
		if keep := p.drop(int32(k)); keep < out.Keep {
			out.Keep, out.Reason = keep, AsRecorded
		}
	}
	for ; p.items < p.s.Calls[k].Items; p.items++ {
		if p.ends[p.items] > int32(k) && !constant(p.s.Items[p.items]) {
			p.blocks = append(p.blocks, p.block(p.items))
		}
	}
	out.Blocks = p.blocks[out.Keep:]
	return out
}

func (p *recordedPlayer) cutAt(k int) (int, bool) {
	return slices.BinarySearchFunc(p.s.Cuts, int32(k), func(c recording.Cut, k int32) int { return int(c.Call - k) })
}

// drop takes out what left the context before call k and returns how many
// blocks at the beginning are as they were.
func (p *recordedPlayer) drop(k int32) int {
	gone := func(b replay.Block) bool { return p.ends[b.Item] <= k }
	keep := slices.IndexFunc(p.blocks, gone)
	if keep < 0 {
		return len(p.blocks)
	}
	p.blocks = slices.DeleteFunc(p.blocks, gone)
	return keep
}

func (p *recordedPlayer) block(i int32) replay.Block {
	return replay.Block{Item: i, Whole: true, Tokens: p.s.Items[i].Tokens, Role: roleOf(p.s.Items[i].Kind)}
}

func roleOf(k quire.PartKind) replay.Role {
	switch k {
	case quire.PartSystem, quire.PartTools:
		return replay.RoleSystem
	case quire.PartToolResult:
		return replay.RoleTool
	case quire.PartText, quire.PartThinking, quire.PartToolCall:
		return replay.RoleAssistant
	default:
		return replay.RoleUser
	}
}

// constant reports whether an item is counted in the constant prefix already:
// system text in front of the first call.
func constant(it recording.Item) bool {
	return (it.Kind == quire.PartSystem || it.Kind == quire.PartTools) && it.Call == 0
}
