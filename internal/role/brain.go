package role

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/route"
)

// A Policy is which models a role runs on. An empty model is that of the run.
type Policy struct {
	Model     string   `json:"modelId"`
	Fallbacks []string `json:"fallbackModelIds,omitempty"`
	Thinking  string   `json:"thinkingLevel,omitempty"` // off, minimal, low, medium, high, xhigh; "": the provider's default
	System    string   `json:"systemPrompt,omitempty"`  // stands in place of the role's profile, unless it is blank
}

// Chain is the models of a policy in the order in which they are tried, each once.
func (p *Policy) Chain() []string {
	chain := []string{p.Model}
	for _, id := range p.Fallbacks {
		if !slices.Contains(chain, id) {
			chain = append(chain, id)
		}
	}
	return chain
}

// Routing is what of the planning is a brain's own.
type Routing struct {
	Parallel int  `json:"maxParallelAgents"`
	Cheap    bool `json:"preferCheapModelForSimpleTasks"` // rush runs on its own chain, not on the planner's
	Escalate bool `json:"escalateOnUncertainty"`
	Review   bool `json:"requireReviewForFileEdits"`
}

// Context is how the streams of a brain's agents are kept.
type Context struct {
	Tokens     int    `json:"maxInputTokens"` // budget of a stream
	Compaction string `json:"compaction"`     // manual: forced epochs only; auto: free ones too; aggressive: paid ones too
	Isolation  string `json:"isolation"`      // strict; shared-facts: packets may carry facts of scope project
}

// A Brain is who plans and on which models everybody works.
type Brain struct {
	ID          string                `json:"id"`
	Extends     string                `json:"extends,omitempty"`
	Name        string                `json:"name"`
	Description string                `json:"description"`
	Planner     Policy                `json:"planner"`
	Roles       map[route.Role]Policy `json:"roles"`
	Routing     Routing               `json:"routing"`
	Context     Context               `json:"context"`
}

// Policy is that of a role. One that is not named works like the planner.
func (b *Brain) Policy(role route.Role) Policy {
	if p, ok := b.Roles[role]; ok && role != route.Router {
		return p
	}
	return b.Planner
}

// A Preset is a brain as it is written down: what is left out is the parent's.
type Preset struct {
	ID          string                     `json:"id"`
	Extends     string                     `json:"extends,omitempty"`
	Name        *string                    `json:"name,omitempty"`
	Description *string                    `json:"description,omitempty"`
	Planner     *PolicyPart                `json:"planner,omitempty"`
	Roles       map[route.Role]*PolicyPart `json:"roles,omitempty"`
	Routing     *RoutingPart               `json:"routing,omitempty"`
	Context     *ContextPart               `json:"context,omitempty"`
}

// PolicyPart is what a preset says of a policy.
type PolicyPart struct {
	Model     *string  `json:"modelId,omitempty"`
	Fallbacks []string `json:"fallbackModelIds,omitempty"`
	Thinking  *string  `json:"thinkingLevel,omitempty"`
	System    *string  `json:"systemPrompt,omitempty"`
}

// RoutingPart is what a preset says of the planning.
type RoutingPart struct {
	Parallel *int  `json:"maxParallelAgents,omitempty"`
	Cheap    *bool `json:"preferCheapModelForSimpleTasks,omitempty"`
	Escalate *bool `json:"escalateOnUncertainty,omitempty"`
	Review   *bool `json:"requireReviewForFileEdits,omitempty"`
}

// ContextPart is what a preset says of the streams.
type ContextPart struct {
	Tokens     *int    `json:"maxInputTokens,omitempty"`
	Compaction *string `json:"compaction,omitempty"`
	Isolation  *string `json:"isolation,omitempty"`
}

// DefaultBrain is the id of the built-in brain.
const DefaultBrain = "brain"

// builtIn is the brain that is always there: one model for all.
func builtIn() Preset {
	name, about := "Brain", "every role on the model of the run"
	tokens, two, yes, auto, strict, none := 0, 2, true, "auto", "strict", ""
	return Preset{
		ID: DefaultBrain, Name: &name, Description: &about, Planner: &PolicyPart{Model: &none}, Roles: map[route.Role]*PolicyPart{},
		Routing: &RoutingPart{Parallel: &two, Cheap: &yes, Escalate: &yes, Review: &yes},
		Context: &ContextPart{Tokens: &tokens, Compaction: &auto, Isolation: &strict},
	}
}

// A Library is the presets of one home, with the built-in one.
type Library struct{ presets []Preset }

// ParseLibrary reads brains.json: {"brains": [PRESET …]}. nil is the built-in brain
// alone; a preset of its id stands in its place, and may extend it. Every preset is resolved and checked, so that an error comes at once and
// names what is wrong.
func ParseLibrary(text []byte, known func(route.Role) bool) (*Library, error) {
	var file struct {
		Brains []Preset `json:"brains"`
	}
	l := &Library{presets: []Preset{builtIn()}}
	if text != nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&file); err != nil {
			return nil, fmt.Errorf("read the brains: %w", inWords(err))
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, errors.New("read the brains: something stands behind the end of the object")
		}
	}
	for _, p := range file.Brains {
		l.presets = append(slices.DeleteFunc(l.presets, func(o Preset) bool { return o.ID == p.ID && p.ID == DefaultBrain }), p)
	}
	return l, l.check(known)
}

// inWords is an error of decoding without the names of Go's types.
func inWords(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	wanted := map[reflect.Kind]string{reflect.Int: "a whole number", reflect.Bool: "true or false", reflect.String: "a text", reflect.Slice: "a list"}[wrong.Type.Kind()]
	return fmt.Errorf("%s: %s stands where %s is wanted", cmp.Or(wrong.Field, "the file"), wrong.Value, cmp.Or(wanted, "an object"))
}

func (l *Library) check(known func(route.Role) bool) error {
	seen := map[string]bool{}
	for _, p := range l.presets {
		if p.ID == "" || seen[p.ID] {
			return fmt.Errorf("brain %q: an id must be there, and only once", p.ID)
		}
		seen[p.ID] = true
		b, err := l.Brain(p.ID)
		if err == nil {
			err = b.check(known)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// IDs are those of all brains, the built-in one first.
func (l *Library) IDs() (ids []string) {
	for _, p := range l.presets {
		ids = append(ids, p.ID)
	}
	return ids
}

// Brain is one with everything that it extends.
func (l *Library) Brain(id string) (Brain, error) {
	if l.preset(id) == nil {
		return Brain{}, fmt.Errorf("there is no brain %q: there are %s", id, strings.Join(l.IDs(), ", "))
	}
	return l.resolve(id, nil)
}

func (l *Library) preset(id string) *Preset {
	i := slices.IndexFunc(l.presets, func(p Preset) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &l.presets[i]
}

// resolve puts a preset over its parent. chain is who extends it.
func (l *Library) resolve(id string, chain []string) (Brain, error) {
	if slices.Contains(chain, id) {
		return Brain{}, fmt.Errorf("brains extend each other in a circle: %s", strings.Join(append(chain, id), " -> "))
	}
	p := l.preset(id)
	if p == nil {
		return Brain{}, fmt.Errorf("brain %q extends %q, which is not there", chain[len(chain)-1], id)
	}
	if id == DefaultBrain && p.Extends == DefaultBrain {
		b := builtIn()
		return p.over(b.over(Brain{})), nil
	}
	if p.Extends == "" {
		if err := p.complete(); err != nil {
			return Brain{}, err
		}
		return p.over(Brain{}), nil
	}
	parent, err := l.resolve(p.Extends, append(chain, id))
	if err != nil {
		return Brain{}, err
	}
	return p.over(parent), nil
}

// complete reports what a preset lacks that extends nothing.
func (p *Preset) complete() error {
	var lacks []string
	for _, m := range []struct {
		name string
		has  bool
	}{{"name", p.Name != nil}, {"description", p.Description != nil}, {"planner", p.Planner != nil}, {"roles", p.Roles != nil}, {"routing", p.Routing != nil}, {"context", p.Context != nil}} {
		if !m.has {
			lacks = append(lacks, m.name)
		}
	}
	if len(lacks) > 0 {
		return fmt.Errorf("brain %q extends nothing and lacks %s", p.ID, strings.Join(lacks, ", "))
	}
	return nil
}

// over is the brain with what the preset says in place of what it has.
func (p *Preset) over(b Brain) Brain {
	b.ID, b.Extends = p.ID, p.Extends
	set(&b.Name, p.Name)
	set(&b.Description, p.Description)
	b.Planner = p.Planner.over(b.Planner)
	roles := map[route.Role]Policy{}
	for name, policy := range b.Roles {
		roles[name] = policy
	}
	for name, part := range p.Roles {
		roles[name] = part.over(roles[name])
	}
	b.Roles = roles
	if r := p.Routing; r != nil {
		set(&b.Routing.Parallel, r.Parallel)
		set(&b.Routing.Cheap, r.Cheap)
		set(&b.Routing.Escalate, r.Escalate)
		set(&b.Routing.Review, r.Review)
	}
	if c := p.Context; c != nil {
		set(&b.Context.Tokens, c.Tokens)
		set(&b.Context.Compaction, c.Compaction)
		set(&b.Context.Isolation, c.Isolation)
	}
	return b
}

func (p *PolicyPart) over(q Policy) Policy {
	if p == nil {
		return q
	}
	set(&q.Model, p.Model)
	set(&q.Thinking, p.Thinking)
	set(&q.System, p.System)
	if p.Fallbacks != nil {
		q.Fallbacks = p.Fallbacks
	}
	return q
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// Thinkings are the levels of thinking, "" for the provider's default.
func Thinkings() []string { return []string{"", "off", "minimal", "low", "medium", "high", "xhigh"} }

func (b *Brain) check(known func(route.Role) bool) error {
	names := make([]string, 0, len(b.Roles))
	for name := range b.Roles {
		names = append(names, string(name))
	}
	slices.Sort(names)
	policies := []Policy{b.Planner}
	for _, name := range names {
		if !known(route.Role(name)) && !slices.Contains(Reserved(), route.Role(name)) {
			return fmt.Errorf("brain %q: there is no role %q", b.ID, name)
		}
		policies = append(policies, b.Roles[route.Role(name)])
	}
	for _, p := range policies {
		if !slices.Contains(Thinkings(), p.Thinking) {
			return fmt.Errorf("brain %q: the thinking level %q: want one of%s", b.ID, p.Thinking, strings.Join(Thinkings(), " "))
		}
	}
	return errors.Join(oneOf(b.ID, "compaction", b.Context.Compaction, "auto", "manual", "aggressive"), oneOf(b.ID, "isolation", b.Context.Isolation, "strict", "shared-facts"))
}

func oneOf(brain, member, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return fmt.Errorf("brain %q: %s is %q, want one of %s", brain, member, value, strings.Join(words, ", "))
}
