package telemetry

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func noon() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// What is posted is what a collector takes, and the headers are the variables'.
func TestPost(t *testing.T) {
	type got struct{ path, key, body string }
	came := make(chan got, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		came <- got{r.URL.Path, r.Header.Get("X-Key"), string(body)}
	}))
	defer server.Close()
	e, err := New(environment("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL+"/", "OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b", "OTEL_RESOURCE_ATTRIBUTES", "team=core"), "1.2", server.Client(), noon)
	if err != nil || e == nil {
		t.Fatalf("%v %v", e, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	list := []Metric{
		{Name: "quire.tokens", Unit: "{token}", Sum: true, Value: 3, Attributes: []Attribute{{"kind", "input"}}},
		{Name: "quire.tokens", Unit: "{token}", Sum: true, Value: 4, Attributes: []Attribute{{"kind", "output"}}},
		{Name: "quire.running", Value: 1},
	}
	e.Run(ctx, func() []Metric { return list }, func(err error) { t.Error(err) })
	g := <-came
	if g.path != "/v1/metrics" || g.key != "a b" || !json.Valid([]byte(g.body)) {
		t.Errorf("%+v", g)
	}
	for _, want := range []string{
		`{"key":"team","value":{"stringValue":"core"}},{"key":"service.name","value":{"stringValue":"quire"}}`,
		`"name":"quire.tokens","unit":"{token}","sum":{"dataPoints":[{"attributes":[{"key":"kind","value":{"stringValue":"input"}}],"startTimeUnixNano":"1796040000000000000","timeUnixNano":"1796040000000000000","asDouble":3},`,
		`"name":"quire.running","gauge":{"dataPoints":[{"timeUnixNano":"1796040000000000000","asDouble":1}]}`,
	} {
		if !strings.Contains(g.body, want) {
			t.Errorf("no %s in %s", want, g.body)
		}
	}
}

func TestFailuresAreTold(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	e, err := New(environment("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", server.URL+"/x"), "", server.Client(), noon)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	told := ""
	e.Run(ctx, func() []Metric { return nil }, func(err error) { told = err.Error() })
	if !strings.Contains(told, "404") {
		t.Errorf("told was %q", told)
	}
}

func TestVariables(t *testing.T) {
	const at, base = "OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318"
	for _, c := range []struct {
		env  []string
		sent bool
		err  bool
	}{
		{nil, false, false},
		{[]string{at, base}, true, false},
		{[]string{at, base, "OTEL_SDK_DISABLED", "TRUE"}, false, false},
		{[]string{at, base, "OTEL_METRICS_EXPORTER", "none"}, false, false},
		{[]string{at, "localhost"}, false, true},
		{[]string{at, base, "OTEL_METRIC_EXPORT_INTERVAL", "soon"}, false, true},
	} {
		e, err := New(environment(c.env...), "", http.DefaultClient, noon)
		if (err != nil) != c.err || err == nil && (e != nil) != c.sent {
			t.Errorf("%v: %v, %v", c.env, e, err)
		}
	}
}
