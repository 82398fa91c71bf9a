package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
)

// What the scheduler of a session does goes to the collector that the environment
// names, the last of it when the session ends; the events go on to the face.
func TestSessionsAreCountedForACollector(t *testing.T) {
	var lock sync.Mutex
	var body string
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		lock.Lock()
		defer lock.Unlock()
		if body = string(text); err != nil {
			body = err.Error()
		}
	}))
	defer collector.Close()
	var shown bytes.Buffer
	inv := &invocation{app: app{build: builtFrom("v0", "")}, env: newEnvironment([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL}), err: &shown}
	seen := 0
	l := &run.Loop{Emit: func(run.Event) { seen++ }}
	wait, err := inv.counted(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	l.Emit(run.Planned{Plan: schedule.Plan{Kind: "forced"}})
	l.Emit(run.Answered{Hits: 3})
	wait()
	lock.Lock()
	defer lock.Unlock()
	for _, want := range []string{`"quire.hits"`, `"quire.epochs"`, `"quire.prefetches"`, `"forced"`, `"asDouble":3`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s was not sent: %s", want, body)
		}
	}
	if seen != 2 || shown.Len() > 0 {
		t.Errorf("%d events were shown; %s", seen, shown.String())
	}
}

// Without a collector nothing is counted, and an address that is none is refused.
func TestWithoutACollectorNothingIsCounted(t *testing.T) {
	l := &run.Loop{}
	inv := &invocation{app: app{build: builtFrom("v0", "")}, env: newEnvironment(nil)}
	wait, err := inv.counted(context.Background(), l)
	if err != nil || l.Emit != nil {
		t.Fatalf("%v", err)
	}
	wait()
	inv.env = newEnvironment([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=nowhere"})
	if _, err := inv.counted(context.Background(), l); err == nil {
		t.Error("an address that is none was taken")
	}
}
