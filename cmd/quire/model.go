package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/model/anthropic"
	"github.com/quire-agent/quire/internal/model/gemini"
	"github.com/quire-agent/quire/internal/model/limit"
	"github.com/quire-agent/quire/internal/model/openai"
	"github.com/quire-agent/quire/internal/model/retry"
	player "github.com/quire-agent/quire/internal/model/script"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/script"
)

// A caller is a model.
type caller interface {
	Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error]
}

// A chosen is a model that was chosen, ready to be called.
type chosen struct {
	caller
	provider model.Provider
	id       string // of the model, as its provider has it
}

// atOnce is how many calls of one model may be under way at once.
const atOnce = 4

// openModel opens the model that the settings name. What may pass is tried again,
// and told to notice before each wait; nil tells nobody.
func (inv *invocation) openModel(ctx context.Context, s *config.Settings, notice func(retry.Again)) (chosen, error) {
	return inv.openNamed(ctx, s, s.Name(config.Model), notice)
}

// openNamed is openModel for a model of a name.
func (inv *invocation) openNamed(ctx context.Context, s *config.Settings, name string, notice func(retry.Again)) (chosen, error) {
	if name == "" {
		return chosen{}, unusable(errors.New("no model is chosen"),
			"name one with --model PROVIDER/MODEL, or keep it with `quire config set model PROVIDER/MODEL`; `quire models` lists the providers")
	}
	b, err := inv.newBooth(s)
	if err != nil {
		return chosen{}, err
	}
	c, err := b.open(ctx, name, true)
	if err != nil {
		return chosen{}, err
	}
	c.caller = retry.New(limit.New(c.caller, atOnce), retry.Policy{Notice: notice})
	return c, nil
}

// A booth is from where models are called: keys, addresses, a client.
type booth struct {
	keys   model.Keys
	bases  model.Bases
	client *http.Client
	dir    string // that files are relative to
}

func (inv *invocation) newBooth(s *config.Settings) (*booth, error) {
	bases, err := model.ParseBases(s.Name(config.ModelURL))
	if err != nil {
		return nil, unusable(err, "write --base-url URL, or PROVIDER=URL")
	}
	keys := model.Keys{Env: inv.env.lookup, Dir: filepath.Join(s.Path(config.Home), "keys"), Ring: inv.ring()}
	return &booth{keys, bases, model.NewClient(inv.env.lookup), inv.app.dir}, nil
}

// ringLimit is how long a keyring may take, which may ask the user to open it.
const ringLimit = 30 * time.Second

// ring asks the system's keyring; nil where there is none to ask. Without a bus
// that is there already the Secret Service would begin one, and leave it behind.
func (inv *invocation) ring() func(context.Context, string) (string, error) {
	hasNone := inv.app.goos != "windows" && inv.app.goos != "darwin" && inv.env.get("DBUS_SESSION_BUS_ADDRESS") == ""
	if inv.app.keyring == nil || hasNone {
		return nil
	}
	return func(ctx context.Context, account string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, ringLimit)
		defer cancel()
		return inv.app.keyring(ctx, account)
	}
}

// open opens the model of a name. named says that the user asked for this one.
// The model script/FILE plays a script and reports no usage.
func (b *booth) open(ctx context.Context, name string, named bool) (chosen, error) {
	if file, ok := strings.CutPrefix(name, scripted+"/"); ok {
		return b.script(file)
	}
	p, id, err := model.Split(name)
	if err != nil {
		return chosen{}, unusable(err, "`quire models` lists the providers")
	}
	p = b.bases.Put(p, named)
	switch {
	case id == "":
		return chosen{}, unusable(errors.New("no model of "+p.Name+" is named"), "write "+p.Name+"/MODEL with a model that it has")
	case p.Base == "":
		return chosen{}, unusable(errors.New(p.Name+" has no address"), "give one with --base-url URL")
	}
	key, err := b.keys.Find(ctx, p)
	if e, ok := errors.AsType[*model.KeyError](err); ok {
		return chosen{}, unusable(err, e.Next)
	}
	return chosen{speak(p, &model.Endpoint{Base: p.Base, Key: key, Client: b.client}), p, id}, nil
}

// speak is the model that speaks the provider's protocol.
func speak(p model.Provider, e *model.Endpoint) caller {
	switch p.API {
	case model.Messages:
		return anthropic.New(e)
	case model.Responses:
		return openai.NewResponses(e)
	case model.Gemini:
		return gemini.New(e)
	default:
		return openai.NewChat(e, p.Dialect)
	}
}

// scripted is the provider of models that play a script.
const scripted = "script"

func (b *booth) script(file string) (chosen, error) {
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.dir, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return chosen{}, unusable(fmt.Errorf("the script: %w", err), "name a file that is there")
	}
	s, err := script.Parse(string(text))
	if err != nil {
		return chosen{}, unusable(fmt.Errorf("the script %s: %w", file, err), "`quire help sim` explains scripts")
	}
	return chosen{player.New(s.Play(), nil), model.Provider{Name: scripted}, file}, nil
}
