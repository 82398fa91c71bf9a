package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/secret"
	"go.uber.org/goleak"
)

// What is typed answers one question each, and the end of the input refuses.
func TestAskerReadsAnswers(t *testing.T) {
	defer goleak.VerifyNone(t)
	var shown bytes.Buffer
	inv := &invocation{in: strings.NewReader("y\nS\na\nno\n"), err: &shown}
	inv.finder = sync.OnceValue(secret.NewFinder)
	a := newAsker(inv)
	q := permit.Question{Tool: "bash", About: []permit.Subject{{Text: "go test ./...", Reason: "it runs code", Like: "go test"}}, Notice: "what is lost"}
	for i, want := range []permit.Answer{permit.Once, permit.Session, permit.SessionLike, permit.Refuse, permit.Refuse} {
		if got, err := a.Ask(t.Context(), q); err != nil || got != want {
			t.Errorf("question %d: %v, %v, want %v", i, got, err, want)
		}
	}
	for _, want := range []string{"tool bash", "go test ./...", "what is lost", `all like "go test"`} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("the question does not say %q: %s", want, shown.String())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := (&asker{inv, make(chan string)}).Ask(ctx, q); got != permit.Refuse || !errors.Is(err, context.Canceled) {
		t.Errorf("after an interrupt: %v, %v", got, err)
	}
	if got := answerOf("a", false); got != permit.Refuse {
		t.Errorf("more was allowed than was offered: %v", got)
	}
}

// Commands get the environment without the keys of models.
func TestCommandsGetNoKeys(t *testing.T) {
	inv := &invocation{env: newEnvironment([]string{"PATH=/bin", "ANTHROPIC_API_KEY=k", "openai_api_key=k", "HOME=/h"})}
	if got := inv.commandEnv(); !slices.Equal(got, []string{"PATH=/bin", "HOME=/h"}) {
		t.Errorf("got %q", got)
	}
}

func TestDemoServerEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	address, stop, err := serve(http.NotFoundHandler())
	if err != nil {
		t.Skip("no address of this machine's own: ", err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(address)
	if err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("%v, %v", resp, err)
	}
	if err == nil {
		resp.Body.Close()
	}
	stop()
}
