package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/undo"
)

// A Tool is something that the agent can call. Both methods may be called
// concurrently.
type Tool interface {
	// Spec declares it to the model. It is the same at every call, byte for
	// byte.
	Spec() quire.ToolSpec

	// Run does the call. It returns soon after the context has ended, with what
	// there is by then as a result that says so. The error is for what makes
	// going on senseless (the pool cannot be written, say); the call may have
	// had effects by then.
	Run(ctx context.Context, in Input) (Result, error)
}

// A Wanter is a tool that says what a call would do, before it does it. Of a tool
// that is none nothing is known.
type Wanter interface {
	Want(in Input) Want
}

// An Input is a call of the model.
type Input struct {
	ID   string          // of the call, as the model's answer has it
	Args json.RawMessage // the arguments, as they were sent

	// Network says that this call was allowed to reach the network: the
	// Network of the decision on it.
	Network bool
}

// A Want is what a call would do.
type Want struct {
	permit.Request
	Notice string // what could not be undone afterwards, for the user who is asked
	Serial bool   // it changes things: no other call may run beside it
}

// WantOf is what a call of a tool would do.
func WantOf(t Tool, in Input) Want {
	if w, ok := t.(Wanter); ok {
		want := w.Want(in)
		want.Tool = t.Spec().Name
		return want
	}
	return Want{Request: permit.Request{Tool: t.Spec().Name, Unknown: true}, Serial: true}
}

// A Result is what goes back to the model, and what the run has to know.
type Result struct {
	Text    string
	Error   bool          // the call did not do what was asked; Text says why and what would help
	Media   *quire.Media  // of an image
	Data    string        // its bytes
	Images  []Image       // others, behind it
	Exit    *int          // exit code of a command that ended
	Effects []undo.Change // what was changed in the project, for undo
	Gaps    []undo.Conflict
	Read    quire.Hash // of a file that was read: the whole of it, its version
}

// An Image is one that a tool returned, with its bytes.
type Image struct {
	Media quire.Media
	Data  string
}

// Failed is a result that says what the model did wrong and what to do.
func Failed(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), Error: true}
}

// A function is a tool made of functions over its arguments.
type function[A any] struct {
	spec quire.ToolSpec
	want func(A) Want
	run  func(context.Context, Input, A) (Result, error)
}

// New makes a tool of its parts: name, prompt text, what a call would do and what
// it does. The schema is that of A, whose fields must have json and jsonschema
// tags. It panics on a type that has no schema.
func New[A any](name, prompt string, want func(A) Want, run func(context.Context, A) (Result, error)) Tool {
	return NewAware(name, prompt, want, func(ctx context.Context, _ Input, args A) (Result, error) { return run(ctx, args) })
}

// NewAware is New for a tool that looks at more of the call than its arguments.
func NewAware[A any](name, prompt string, want func(A) Want, run func(context.Context, Input, A) (Result, error)) Tool {
	return &function[A]{spec: newSpec[A](name, prompt), want: want, run: run}
}

// Spec declares the tool.
func (f *function[A]) Spec() quire.ToolSpec { return f.spec }

// Want says what a call would do. Arguments that cannot be read do nothing.
func (f *function[A]) Want(in Input) Want {
	args, err := decode[A](in.Args)
	if err != nil {
		return Want{}
	}
	return f.want(args)
}

// Run does a call.
func (f *function[A]) Run(ctx context.Context, in Input) (Result, error) {
	args, err := decode[A](in.Args)
	if err != nil {
		return Failed("The arguments of %s cannot be read: %v. Its schema: %s", f.spec.Name, err, f.spec.Schema), nil
	}
	return f.run(ctx, in, args)
}
