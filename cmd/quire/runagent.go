package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/rendition"
	"github.com/quire-agent/quire/internal/retrieve"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/tool/fs"
	"github.com/quire-agent/quire/internal/tool/git"
	"github.com/quire-agent/quire/internal/tool/search"
	"github.com/quire-agent/quire/internal/tool/shell"
	"github.com/quire-agent/quire/internal/tool/todo"
	"github.com/quire-agent/quire/internal/undo"
	"github.com/quire-agent/quire/internal/x/fence"
	"github.com/quire-agent/quire/internal/x/sandbox"
)

//go:embed runsystem.md
var systemPrompt string

// An agent is a session with all that takes part in it.
type agent struct {
	agentParts
	project *fence.Fence
	files   *fs.Files
	shell   *shell.Shell
	todos   *todo.List
	loop    *run.Loop
	others  *otherSessions
	live    *ingest.Live
	undone  []string // paths that the user had put back since the last turn
	ward    ward
}

// agentParts are what an agent is made with.
type agentParts struct {
	inv   *invocation
	home  *home
	dir   string
	model calledModel
	terms run.Terms // without prefix and window of the stream
	mode  permit.Mode
	asker permit.Asker
	now   func() time.Time

	around *around // nil: nothing is around

	// Of an agent of a team.
	extra  []tool.Tool // besides those of every agent
	told   string      // the project's folder as the model is told and as it is recorded, "" for dir: where it works in a copy
	parent string      // ULID of the session of the team
}

// newAgent makes an agent of its parts. Its session is begun or resumed next.
func newAgent(p agentParts) (*agent, error) {
	project, err := fence.Open(p.dir)
	if err != nil {
		return nil, unusable(err, "give a folder that is there with --cwd")
	}
	a := &agent{agentParts: p, project: project, todos: &todo.List{}, others: p.inv.otherSessions(p.home, project.Dir())}
	tree := undo.New(project, p.home.pool.Bodies)
	tree.Except(p.home.pool.Home)
	a.files = fs.New(project, tree)
	a.shell = shell.New(shell.Config{Project: project, Tree: tree, Shell: found("bash"), Env: p.inv.commandEnv(), Sandbox: p.inv.sandbox()})
	if a.loop, err = a.newLoop(); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

// close ends what goes on in the background and gives the session up.
func (a *agent) close() error {
	a.left("exit")
	a.shell.Close()
	var err error
	if a.live != nil {
		err = a.live.Close()
	}
	return errors.Join(err, a.project.Close())
}

// found is the path of a program, "" where there is none.
func found(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}

// tools are those that do not look into the session.
func (a *agent) tools() []tool.Tool {
	list := a.files.Tools()
	list = append(list, search.New(a.project, found("rg")).Tools()...)
	list = append(list, a.shell.Tools()...)
	list = append(list, git.New(a.project).Tools()...)
	return append(append(append(list, a.todos.Tool()), a.around.tools()...), a.extra...)
}

func (a *agent) newLoop() (*run.Loop, error) {
	tools := a.tools()
	policy, err := a.policy()
	if err != nil {
		return nil, err
	}
	system := []quire.Block{{Part: quire.Part{Kind: quire.PartSystem, Text: systemPrompt + a.place()}}}
	step, prefix, err := a.newStep(tools, system)
	if err != nil {
		return nil, err
	}
	tools = append(tools, run.Recall(step, a.besides()))
	head := assemble.Head{
		Model: a.model.id, Tools: specs(tools), Recall: run.RecallName, System: system, Opening: a.around.opening(), MaxOutput: a.model.output, Stream: true,
		Rules: rulesOf(a.terms), Limits: a.model.limits, Constant: prefix,
	}
	return &run.Loop{
		Step: step, Model: a.model.Model, Tools: a.hooked(tools), Gate: &permit.Gate{Policy: policy, Asker: a.asking()}, Head: head, Warner: a, Scale: countedAs(a.model.id), Now: a.now,
	}, nil
}

// rulesOf are the rules for the marks of a prompt: caches that need none get none.
func rulesOf(t run.Terms) assemble.Rules {
	r := assemble.Rules{Rules: t.Rules}
	if t.Rules.Breakpoints > 0 {
		r.HeadMark, r.TailMark = quire.MarkShort, quire.MarkShort
	}
	return r
}

// place says where the session is. It does not change within one.
func (a *agent) place() string {
	return "\nThe project is the folder " + cmp.Or(a.told, a.project.Dir()) + ", on " + runtime.GOOS + ". Paths are relative to it.\n"
}

func specs(tools []tool.Tool) []quire.ToolSpec {
	list := make([]quire.ToolSpec, len(tools))
	for i, t := range tools {
		list[i] = t.Spec()
	}
	return list
}

// newStep makes the step and measures the constant part of its prompts.
func (a *agent) newStep(tools []tool.Tool, system []quire.Block) (*run.Step, int, error) {
	counter := a.home.pool.Counter
	prefix := run.RecallSchema
	for _, s := range specs(tools) {
		prefix += counter.Count(s.Name) + counter.Count(s.Description) + counter.Count(string(s.Schema))
	}
	for i := range system {
		prefix += counter.Count(system[i].Text)
	}
	for _, t := range a.around.opening() {
		prefix += t.Tokens
	}
	table, err := schedule.Default()
	if err != nil {
		return nil, 0, err
	}
	terms := a.terms
	terms.Prefix, terms.Own = prefix, true
	terms.Settings.Table, terms.Settings.Care, terms.Settings.Notice = table, schedule.DefaultCare, run.Notice
	terms.Settings.Window, terms.Settings.Room = terms.Bound(countedAs(a.model.id), a.model.output)
	return run.NewStep(run.Parts{
		Terms: terms, Count: counter, Cut: &ingest.Cutter{}, Maker: rendition.NewMaker(a.home.secrets, counter, rendition.Recall),
		Frame: retrieve.Frame, Mask: a.home.secrets.Mask, Model: a.model.id, Project: a.project.Dir(),
	}), prefix, nil
}

// countedAs is how many tokens a model's provider counts for one that is counted
// here, before it has said so: of text and of code in the mean.
func countedAs(model string) float64 {
	c := token.NewFit(model).Coefficients()
	return (c[token.Prose] + c[token.Code]) / 2
}

// begin begins a session.
func (a *agent) begin(ctx context.Context) error {
	info := quire.SessionInfo{
		Agent: quire.AgentQuire, Project: cmp.Or(a.told, a.project.Dir()), Parent: a.parent, Version: a.inv.release().Version, Model: a.model.id, Window: a.terms.Terms.Window, Started: a.now().Round(0),
	}
	live, err := a.home.pool.Begin(ctx, info)
	if err != nil {
		return err
	}
	a.takes(live)
	return a.surrounded()
}

// takes makes a session that is open the agent's.
func (a *agent) takes(live *ingest.Live) {
	a.live, a.loop.Record, a.others.own = live, live, live.Name().Number
	a.loop.Model = keyed{a.loop.Model, live.Name().ULID}
}

// resume goes on with a session.
func (a *agent) resume(ctx context.Context, name journal.Name) error {
	to := ingest.Resumer{Event: a.event, Record: a.record}
	live, err := a.home.pool.Resume(ctx, name, to)
	if err != nil {
		return resumable(err)
	}
	a.takes(live)
	a.ward.resumed = true
	return errors.Join(a.loop.Restored(), a.surrounded())
}

func resumable(err error) error {
	if errors.Is(err, ingest.ErrNotOurs) {
		return unusable(err, "go on with it in the agent that it is from, or begin a session of your own")
	}
	return explain(err)
}

// event takes an event of the session that is resumed.
func (a *agent) event(e quire.Event) error {
	switch e := e.(type) {
	case quire.Answered:
		a.listed(e.Part)
	case quire.Entered:
		if e.Part.Kind == quire.PartUser {
			a.undone = nil
		}
		a.ward.past(e.Part)
	}
	return a.loop.Restore(e, a.loop.Head)
}

// listed takes over the list of things to do.
func (a *agent) listed(p quire.Part) {
	var args struct {
		Todos []todo.Item `json:"todos"`
	}
	if p.Kind == quire.PartToolCall && p.Tool == todo.Name && json.Unmarshal([]byte(p.Text), &args) == nil {
		a.todos.Set(args.Todos)
	}
}

// record takes what the session did outside of its stream, and what the user did
// to it.
func (a *agent) record(r quire.Record) error {
	switch r.Type {
	case quire.RecordEffect:
		e, err := journal.Decode[run.EffectRecord](r)
		if err == nil {
			a.saw(e)
			a.ward.changed = len(e.Changes)
		}
		return err
	case quire.RecordUndone:
		u, err := journal.Decode[run.UndoneRecord](r)
		a.undone = append(a.undone, u.Restored...)
		return err
	case quire.RecordMark:
		m, err := journal.Decode[quire.MarkRecord](r)
		if err != nil {
			return err
		}
		a.pinnedBefore(m)
	}
	return a.loop.Recorded(r)
}

// saw notes which versions of files the model knows.
func (a *agent) saw(e run.EffectRecord) {
	if e.Path != "" {
		if name, err := a.project.Resolve(e.Path); err == nil {
			a.files.Saw(name, e.Version)
		}
	}
	for _, c := range e.Changes {
		if c.After.Kind == undo.File {
			a.files.Saw(c.Path, c.After.Hash)
		}
	}
}

// turn does what the user asks.
func (a *agent) turn(ctx context.Context, words string) (run.Outcome, error) {
	if err := a.before(ctx, words); err != nil {
		return run.Outcome{}, err
	}
	if err := a.loop.Tell(ctx, a); err != nil {
		return run.Outcome{}, err
	}
	blocks := []quire.Block{{Part: quire.Part{Kind: quire.PartUser, Text: words}}}
	out, err := a.loop.Turn(ctx, append(blocks, a.attached(ctx, words)...)...)
	return a.after(ctx, out, err)
}

// attached is what the user's words refer to.
func (a *agent) attached(ctx context.Context, words string) []quire.Block {
	to := run.Attacher{Project: a.project, Files: a.project.Root().FS(), Sessions: a.others, Show: fs.Shown}
	return to.Attach(ctx, words)
}

// sandbox says what commands may write to, nil where the system has no sandbox.
func (inv *invocation) sandbox() *shell.Sandbox {
	self, err := os.Executable()
	if err != nil || !sandbox.Available().Files {
		return nil
	}
	return &shell.Sandbox{Self: self, Write: inv.writable()}
}

// writable are the folders outside of a project that commands may write to: those
// for temporary files, and the caches of compilers and package managers.
func (inv *invocation) writable() []string {
	list := []string{os.TempDir()}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "XDG_CACHE_HOME", "CARGO_HOME", "npm_config_cache"} {
		if dir := inv.env.get(name); filepath.IsAbs(dir) {
			list = append(list, dir)
		}
	}
	if dir := inv.env.get("GOPATH"); filepath.IsAbs(dir) {
		list = append(list, filepath.Join(dir, "pkg"))
	}
	if own := inv.env.home(inv.app.goos); own != "" {
		for _, name := range []string{".cache", "go/pkg", ".npm", ".cargo/registry", ".cargo/git", ".rustup", ".m2", ".gradle", ".nuget"} {
			list = append(list, filepath.Join(own, filepath.FromSlash(name)))
		}
	}
	return list
}
