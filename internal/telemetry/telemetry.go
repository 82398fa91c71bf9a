package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A Metric is one figure.
type Metric struct {
	Name        string
	Unit        string // of UCUM: "{call}", "By", "{USD}"
	Description string
	Sum         bool // it only grows, since the beginning
	Value       float64
	Attributes  []Attribute
}

// An Attribute tells figures of one name apart.
type Attribute struct{ Key, Value string }

// An Exporter posts figures. One Run at a time.
type Exporter struct {
	address  string
	headers  http.Header
	resource []Attribute
	interval time.Duration
	timeout  time.Duration
	client   *http.Client
	now      func() time.Time
	began    time.Time
}

// New is the exporter that the variables ask for, nil where they ask for none. An
// error says which of them cannot be used.
func New(env func(string) (string, bool), version string, client *http.Client, now func() time.Time) (*Exporter, error) {
	v := variables{env}
	address := v.address()
	if address == "" || v.is("OTEL_SDK_DISABLED", "true") || v.is("OTEL_METRICS_EXPORTER", "none") {
		return nil, nil
	}
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the address of the collector, %q, is not one like http://localhost:4318", address)
	}
	e := &Exporter{address: address, client: client, now: now, began: now(), headers: http.Header{}}
	e.resource = append(v.attributes(), Attribute{"service.name", v.or("OTEL_SERVICE_NAME", "quire")}, Attribute{"service.version", version})
	var err error
	for _, p := range pairs(v.or("OTEL_EXPORTER_OTLP_METRICS_HEADERS", v.or("OTEL_EXPORTER_OTLP_HEADERS", ""))) {
		e.headers.Add(p.Key, p.Value)
	}
	if e.interval, err = v.milliseconds("OTEL_METRIC_EXPORT_INTERVAL", time.Minute); err != nil {
		return nil, err
	}
	e.timeout, err = v.milliseconds("OTEL_EXPORTER_OTLP_TIMEOUT", 10*time.Second)
	return e, err
}

// variables are those of the environment.
type variables struct {
	env func(string) (string, bool)
}

func (v variables) or(name, otherwise string) string {
	if text, ok := v.env(name); ok && strings.TrimSpace(text) != "" {
		return strings.TrimSpace(text)
	}
	return otherwise
}

func (v variables) is(name, want string) bool { return strings.EqualFold(v.or(name, ""), want) }

func (v variables) address() string {
	if whole := v.or("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", ""); whole != "" {
		return whole
	}
	if base := v.or("OTEL_EXPORTER_OTLP_ENDPOINT", ""); base != "" {
		return strings.TrimSuffix(base, "/") + "/v1/metrics"
	}
	return ""
}

func (v variables) attributes() []Attribute { return pairs(v.or("OTEL_RESOURCE_ATTRIBUTES", "")) }

func (v variables) milliseconds(name string, otherwise time.Duration) (time.Duration, error) {
	text := v.or(name, "")
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%s is %q, want milliseconds", name, text)
	}
	return time.Duration(n) * time.Millisecond, nil
}

// pairs reads name=value,name=value with escaped values. What is no pair is passed
// over.
func pairs(text string) (list []Attribute) {
	for one := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(one, "=")
		if plain, err := url.PathUnescape(strings.TrimSpace(value)); err == nil && ok && strings.TrimSpace(name) != "" {
			list = append(list, Attribute{strings.TrimSpace(name), plain})
		}
	}
	return list
}

// Run posts what collect gives, at intervals and once more when the context ends.
// Failures are told and change nothing.
func (e *Exporter) Run(ctx context.Context, collect func() []Metric, failed func(error)) {
	tick := time.NewTicker(e.interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			last, stop := context.WithTimeout(context.WithoutCancel(ctx), e.timeout)
			defer stop()
			e.post(last, collect(), failed)
			return
		}
		e.post(ctx, collect(), failed)
	}
}

func (e *Exporter) post(ctx context.Context, list []Metric, failed func(error)) {
	ctx, stop := context.WithTimeout(ctx, e.timeout)
	defer stop()
	if err := e.send(ctx, list); err != nil && !errors.Is(err, context.Canceled) {
		failed(fmt.Errorf("send metrics to the collector: %w", err))
	}
}

func (e *Exporter) send(ctx context.Context, list []Metric) (err error) {
	body, err := json.Marshal(e.request(list))
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = e.headers.Clone()
	r.Header.Set("Content-Type", "application/json")
	answer, err := e.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	const most = 1 << 16
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, most)) // what it says is not needed
	if answer.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("it answered %s", answer.Status)
	}
	return nil
}
