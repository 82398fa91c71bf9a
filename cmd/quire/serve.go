package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/gateway"
	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/telemetry"
	"github.com/spf13/cobra"
)

// A serveRun is one `quire serve`.
type serveRun struct {
	*invocation
	listen    string
	upstreams []string
	keys      []string
	hosts     []string
	client    string
	noCurate  bool
	cache     bool
	asJSON    bool
	zone      *time.Location // in which times are shown
}

func (inv *invocation) serveCommand() *cobra.Command {
	run := &serveRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Stand between a client and its provider: same answers, smaller bill",
		Long: `Stand between a coding agent and its provider. What the client sends goes up byte
for byte, with its own key; what the provider answers comes down byte for byte as it
arrives. So it stays until a session's prompt has to be written anew, because its
cache has lapsed or its window is full. From there on the session is curated: what is
idle stands as a handle of a few tokens, the model reads it back with the tool recall,
which the gateway answers itself, and the client sees nothing of it. When curating
fails the client's own words go up; that is counted, and the line says why.
--no-curate only relays.

Beside that the sessions are kept as ` + "`quire import`" + ` keeps logs, and each model
call gives a line: its session, its model, the prompt with how much of it was read
from the cache, the answer, what it cost, and why a prompt was cold.

The APIs are Anthropic Messages, OpenAI Responses and Chat Completions, and Gemini
generateContent. Each goes to its vendor, or to the URL of --upstream, which may be
given once for each of messages, responses, chat and gemini.

--env CLIENT prints the settings with which a client uses the gateway and stays as
it is when it is connected directly. Clients:
` + strings.Join(clientNames(), ", ") + `.

Off loopback the gateway wants a token, as the first part of the path, /t/TOKEN/v1/…,
or in the header x-quire-token. GET /quire/status, /quire/sessions and /quire/metrics
(Prometheus) want it everywhere. --token prints it.`,
		Example: `  quire serve
  quire serve --env claude-code
  quire serve --listen 127.0.0.1:4000 --upstream chat=https://openrouter.ai/api/v1
  quire status`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return run.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&run.listen, "listen", defaultListen, "`ADDRESS` and port to listen on; port 0 takes a free one")
	f.StringArrayVar(&run.upstreams, "upstream", nil, "where an API is served, as `API=URL`; may be repeated")
	f.StringArrayVar(&run.keys, "key", nil, "use a key of your own in the place of the client's: that of a provider, as `API=PROVIDER`, found as quire models finds it; may be repeated")
	f.StringArrayVar(&run.hosts, "host", nil, "a further `NAME` under which clients reach the gateway; may be repeated")
	f.StringVar(&run.client, "env", "", "print the settings of `CLIENT` for this gateway, and do nothing else")
	f.BoolVar(&run.noCurate, "no-curate", false, "relay and record only: no session is curated")
	f.BoolVar(&run.cache, "cache", false, "mark curated prompts for the provider's cache also where the client asks for none")
	f.BoolVar(&run.asJSON, "json", false, "write each call as one JSON object in a line")
	cmd.Flags().Bool("token", false, "print the token of the gateway, and do nothing else")
	bind(f, string(config.Prices), string(config.Budget))
	return cmd
}

// defaultListen is where the gateway listens when nothing else is said.
const defaultListen = "127.0.0.1:8788"

func (r *serveRun) run(cmd *cobra.Command) error {
	if r.client != "" {
		return r.showClient()
	}
	if only, err := cmd.Flags().GetBool("token"); err != nil || only {
		return errors.Join(err, r.showToken(cmd))
	}
	return r.serve(cmd)
}

func (r *serveRun) showToken(cmd *cobra.Command) error {
	dir, err := r.homeDir(cmd)
	if err != nil {
		return err
	}
	secret, err := gatewaySecret(dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(r.out, gateway.Token(secret))
	return nil
}

func (r *serveRun) serve(cmd *cobra.Command) (err error) {
	h, err := r.openHome(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	if err := h.counting(); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", r.listen)
	if err != nil {
		return unusable(fmt.Errorf("listen: %w", err), "give another address: --listen 127.0.0.1:0")
	}
	g, err := r.gateway(cmd, h, listener)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	counting, err := r.telemetry(cmd.Context(), g)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer counting()
	return r.relay(cmd.Context(), h, g, listener)
}

// telemetry sends the figures of the gateway to a collector, where the environment
// names one, until the context ends; what it returns waits for the last of them.
func (r *serveRun) telemetry(ctx context.Context, g *gateway.Gateway) (wait func(), err error) {
	e, err := telemetry.New(r.env.lookup, r.release().Version, http.DefaultClient, time.Now)
	if err != nil {
		return nil, unusable(err, "set OTEL_EXPORTER_OTLP_ENDPOINT to the collector's address, or unset it")
	}
	if e == nil {
		return func() {}, nil
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.Run(ctx, func() []telemetry.Metric { s := g.Status(); return s.Metrics() }, r.failed)
	}()
	return func() { stop(); <-ended }, nil
}

// gateway makes it of flags, settings and the home.
func (r *serveRun) gateway(cmd *cobra.Command, h *home, listener net.Listener) (*gateway.Gateway, error) {
	settings, err := r.settings(cmd)
	if err != nil {
		return nil, err
	}
	r.zone = zone(settings)
	o := gateway.Options{Pool: &h.pool, Hosts: r.hosts, Proxy: http.ProxyFromEnvironment, Seen: r.seen, Failed: r.failed}
	if !r.noCurate {
		o.Curate = &gateway.Curation{Secrets: h.secrets, Budget: settings.Int(config.Budget), Cache: r.cache}
	}
	if o.Upstreams, err = upstreamsOf(r.upstreams); err != nil {
		return nil, err
	}
	if o.Keys, err = r.ownKeys(cmd.Context(), settings); err != nil {
		return nil, err
	}
	if o.Prices, err = priceTable(settings.Path(config.Prices)); err != nil {
		return nil, err
	}
	if o.Secret, err = gatewaySecret(h.pool.Home); err != nil {
		return nil, err
	}
	if o.Listen, _, err = net.SplitHostPort(listener.Addr().String()); err != nil {
		return nil, failure(fmt.Errorf("the address of the listener: %w", err), "")
	}
	g, err := gateway.New(o)
	if err != nil {
		return nil, unusable(err, "give it as --upstream API=https://host")
	}
	return g, nil
}

// ownKeys are the keys that go up in the place of a client's.
func (r *serveRun) ownKeys(ctx context.Context, s *config.Settings) (map[gateway.API]string, error) {
	if len(r.keys) == 0 {
		return map[gateway.API]string{}, nil
	}
	booth, err := r.newBooth(s)
	if err != nil {
		return nil, err
	}
	out := map[gateway.API]string{}
	for _, one := range r.keys {
		name, provider, _ := strings.Cut(one, "=")
		p, ok := model.Named(provider)
		if !slices.Contains(gateway.APIs(), gateway.API(name)) || !ok {
			return nil, unusable(fmt.Errorf("--key %q is not API=PROVIDER", one), "write --key messages=anthropic; `quire models` lists the providers")
		}
		key, err := booth.keys.Find(ctx, p)
		if e, ok := errors.AsType[*model.KeyError](err); ok {
			return nil, unusable(err, e.Next)
		}
		if err != nil {
			return nil, failure(err, "")
		}
		out[gateway.API(name)] = key.Reveal()
	}
	return out, nil
}

func upstreamsOf(list []string) (map[gateway.API]string, error) {
	out := map[gateway.API]string{}
	for _, one := range list {
		name, url, ok := strings.Cut(one, "=")
		api := gateway.API(name)
		if !ok || !slices.Contains(gateway.APIs(), api) {
			return nil, unusable(fmt.Errorf("--upstream %q is not API=URL", one), "the APIs are messages, responses, chat and gemini")
		}
		out[api] = url
	}
	return out, nil
}

// relay serves until the context ends; then answers under way get a moment, and
// what passed is recorded.
func (r *serveRun) relay(ctx context.Context, h *home, g *gateway.Gateway, listener net.Listener) error {
	address := "http://" + listener.Addr().String()
	fmt.Fprintf(r.out, "quire serve listens on %s\n", address)
	note := filepath.Join(h.pool.Home, gatewayFile)
	err := os.WriteFile(note, []byte(address+"\n"), 0o600)
	if err == nil {
		err = untilDone(ctx, g, listener)
		err = errors.Join(err, os.Remove(note))
	}
	closing, stop := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer stop()
	if fault := g.Close(closing); fault != nil {
		err = errors.Join(err, failure(fault, "`quire doctor --rebuild` makes what is missing"))
	}
	return err
}

func untilDone(ctx context.Context, g *gateway.Gateway, listener net.Listener) error {
	server := g.Server()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return failure(fmt.Errorf("serve: %w", err), "")
	case <-ctx.Done():
	}
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

// The files of a gateway in the home.
const (
	gatewayFile = "gateway"     // the address of the one that runs
	secretFile  = "gateway.key" // what credentials are hashed with, and the token is made from
)

// gatewaySecret is the secret of the home, which is made when it is first asked for.
func gatewaySecret(dir string) ([]byte, error) {
	path := filepath.Join(dir, secretFile)
	secret, err := os.ReadFile(path)
	switch {
	case err == nil && len(secret) >= 32:
		return secret, nil
	case err == nil:
		return nil, failure(fmt.Errorf("%s is damaged", path), "remove it: a new one is made, and clients off this machine need the new token")
	case !errors.Is(err, fs.ErrNotExist):
		return nil, failure(fmt.Errorf("read the gateway's key: %w", err), "")
	}
	secret = make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, failure(fmt.Errorf("make the gateway's key: %w", err), "")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, failure(fmt.Errorf("make the home: %w", err), "")
	}
	if err := os.WriteFile(path, secret, 0o600); err != nil {
		return nil, failure(fmt.Errorf("keep the gateway's key: %w", err), "allow writing there, or use another home (QUIRE_HOME)")
	}
	return secret, nil
}
