package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/token"
	"github.com/spf13/cobra"
)

// A simRun is one `quire sim`.
type simRun struct {
	*invocation
	listen string
	script string // file, "" for an echo
	rules  string // file, "" for the built-in table
	key    string
	bound  bool
}

func (inv *invocation) simCommand() *cobra.Command {
	run := &simRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Serve a strict simulator of model providers, scripted and free",
		Long: `Serve the APIs of Anthropic (Messages), OpenAI (Chat Completions, Responses) and
Google (generateContent) without a model: what is answered stands in a script, and
without one the user's last words are said back. Any key will do, unless --key names
one. It goes on until it is interrupted.

The simulator refuses what the vendors refuse, with their words: calls without
results, sizes, cache breakpoints, thinking that was made for another prompt. Usage
says what a prompt cache with the vendor's rules would have read and written. FILE of
--rules changes prices, windows and rules, in the form of the setting prices.

GET /sim/requests lists what was sent and how it was answered.

` + script.Language() + simExample,
		Example: `  quire sim --listen 127.0.0.1:8787 --script demo.script
  quire sim --bound-thinking --rules rules.json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return run.do(cmd.Context()) },
	}
	f := cmd.Flags()
	f.StringVar(&run.listen, "listen", "127.0.0.1:8787", "`ADDRESS` and port to listen on; port 0 takes a free one")
	f.StringVar(&run.script, "script", "", "what to answer, from `FILE`")
	f.StringVar(&run.rules, "rules", "", "prices, windows and prefix rules from `FILE`, over the built-in ones")
	f.StringVar(&run.key, "key", "", "take this `KEY` only")
	f.BoolVar(&run.bound, "bound-thinking", false, "bind thinking to its prompt for every model of Messages, not only for those that do it")
	return cmd
}

func (r *simRun) do(ctx context.Context) error {
	s, err := r.simulator()
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", r.listen)
	if err != nil {
		return unusable(fmt.Errorf("listen: %w", err), "give another address: --listen 127.0.0.1:0")
	}
	fmt.Fprintf(r.out, "quire sim listens on http://%s\n", listener.Addr())
	fmt.Fprintf(r.err, "quire run: --base-url http://%[1]s for anthropic, http://%[1]s/v1 for openai and those with its API, http://%[1]s/v1beta for gemini\n", listener.Addr())
	return serveUntil(ctx, s, listener)
}

// simulator makes it of what the flags say.
func (r *simRun) simulator() (*sim.Sim, error) {
	o := sim.Options{Key: r.key, Limits: sim.Limits{BoundThinking: r.bound}, Failed: func(err error) { fmt.Fprintln(r.err, "quire sim:", r.mask(err.Error())) }}
	var err error
	if o.Prices, err = priceTable(r.rules); err != nil {
		return nil, err
	}
	if o.Script, err = readScript(r.script); err != nil {
		return nil, err
	}
	if o.Counter, err = token.NewCounter(); err != nil {
		return nil, err
	}
	return sim.New(o)
}

// readScript reads a script, nil for none.
func readScript(path string) (*script.Script, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, unusable(fmt.Errorf("read the script: %w", err), "name a file: --script FILE")
	}
	s, err := script.Parse(string(text))
	if err != nil {
		return nil, unusable(fmt.Errorf("the script %s: %w", path, err), "`quire help sim` has the language")
	}
	return s, nil
}

// serveUntil serves until the context ends, and then lets answers under way end.
func serveUntil(ctx context.Context, s *sim.Sim, listener net.Listener) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: 30 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return failure(fmt.Errorf("serve: %w", err), "")
	case <-ctx.Done():
	}
	s.Close()
	closing, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer stop()
	err := server.Shutdown(closing)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	<-ended
	if err != nil {
		return fmt.Errorf("stop serving: %w", err)
	}
	return ctx.Err()
}

// simExample is a script and requests for it, as the help shows them.
const simExample = `
An example: quire sim --script demo.script,
with demo.script as
  turn
    when user contains port
    call read as c1 {"path": "app.conf"}
  turn
    when answered c1
    when result matches port (\d+)
    say It listens on ${1}.
  turn
    fail 529 after 1
  turn always
    say Done.

and then
  curl -s http://127.0.0.1:8787/v1/messages -H 'x-api-key: k' \
    -H 'anthropic-version: 2023-06-01' -d '{"model": "claude-opus-5", "max_tokens": 100,
    "messages": [{"role": "user", "content": "Which port?"}]}'
  curl -sN http://127.0.0.1:8787/v1/chat/completions -H 'authorization: Bearer k' \
    -d '{"model": "gpt-5.4", "stream": true, "messages": [{"role": "user", "content": "hi"}]}'
  curl -s http://127.0.0.1:8787/sim/requests
`
