package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/telemetry"
)

// A Line tells of one model call that is over.
type Line struct {
	At      time.Time           `json:"at"`
	API     API                 `json:"api"`
	Status  int                 `json:"status"`            // of the answer, 0 where none came
	Session quire.SessionNumber `json:"session,omitempty"` // 0: none is kept for it
	Branch  string              `json:"branch,omitempty"`  // chain of the journal, "" for the main one
	Side    bool                `json:"side,omitempty"`    // a side request: accounted, and not kept
	Model   string              `json:"model"`
	Stream  bool                `json:"stream,omitempty"`
	Usage   quire.Usage         `json:"usage"`             // as the provider reported it
	Prompt  int                 `json:"prompt"`            // tokens, as reported, else as counted
	Priced  bool                `json:"priced"`            // the model has prices
	Cost    float64             `json:"cost,omitempty"`    // US dollars
	Cold    string              `json:"cold,omitempty"`    // why nothing of the prompt was in the cache, "" where something was
	Cleared int                 `json:"cleared,omitempty"` // tool results that the client had cleared
	Cut     bool                `json:"cut,omitempty"`     // the answer did not come to its end
	Error   string              `json:"error,omitempty"`   // what the provider said instead of an answer
	Odd     string              `json:"odd,omitempty"`     // why request or answer could not be read
	Note    string              `json:"note,omitempty"`    // why the call was not recorded
	Lost    int64               `json:"lost,omitempty"`    // calls that were not recorded because too much waited, since the last line
	curatedNote
	First time.Duration `json:"first"` // until the answer began
	Took  time.Duration `json:"took"`
}

// A Row is what is known of a session.
type Row struct {
	Session    quire.SessionNumber `json:"session"`
	Project    string              `json:"project,omitempty"`
	API        API                 `json:"api,omitempty"`
	Model      string              `json:"model"` // of its last call
	Calls      int                 `json:"calls"`
	Prompt     int                 `json:"prompt"` // tokens of its last prompt
	Input      int64               `json:"input"`
	CacheRead  int64               `json:"cache_read"`
	CacheWrite int64               `json:"cache_write"`
	Output     int64               `json:"output"`
	Cost       float64             `json:"cost"`              // US dollars
	Cold       int                 `json:"cold"`              // calls that found nothing in the cache
	Curated    int                 `json:"curated,omitempty"` // calls that went up as a stream of ours
	Recalls    int                 `json:"recalls,omitempty"` // pages that were read back in band
	Opened     int                 `json:"opened,omitempty"`  // calls whose curation failed
	Saved      float64             `json:"saved,omitempty"`   // US dollars: what the client's own view would have cost more
	View       int                 `json:"view,omitempty"`    // tokens of the client's own last view
	Full       bool                `json:"full,omitempty"`    // which are more than the model's window
	Started    time.Time           `json:"started"`
	Last       time.Time           `json:"last"`
}

func (r *Row) add(l *Line, at time.Time) {
	r.Calls++
	r.Model, r.Prompt, r.Last = l.Model, l.Prompt, at
	r.Cost += l.Cost
	r.Recalls += l.Recalls
	if l.Cold != "" {
		r.Cold++
	}
	if l.Curated {
		r.Curated++
	}
	if l.Opened != "" {
		r.Opened++
	}
	r.usage(l.Usage)
}

func (r *Row) usage(u quire.Usage) {
	r.Input += u.Input
	r.CacheRead += u.CacheRead
	r.CacheWrite += u.CacheWrite
	r.Output += u.Output
}

// Totals count what was observed since the start.
type Totals struct {
	Calls      int64   `json:"calls"`
	Side       int64   `json:"side"`   // of them
	Errors     int64   `json:"errors"` // that were answered with an error, or with nothing
	Cut        int64   `json:"cut"`
	Cold       int64   `json:"cold"`
	Lost       int64   `json:"lost"`   // that were not recorded because too much waited
	Odd        int64   `json:"odd"`    // that could not be read
	Faults     int64   `json:"faults"` // of recording
	Curated    int64   `json:"curated"`
	Epochs     int64   `json:"epochs"`
	Recalls    int64   `json:"recalls"` // that were answered in band
	Opened     int64   `json:"opened"`  // failures of curation: the client's view went up
	Input      int64   `json:"input"`
	CacheRead  int64   `json:"cache_read"`
	CacheWrite int64   `json:"cache_write"`
	Output     int64   `json:"output"`
	Cost       float64 `json:"cost"` // US dollars
}

func (t *Totals) add(l *Line) {
	t.Calls++
	t.Lost += l.Lost
	t.Cost += l.Cost
	t.Input += l.Usage.Input
	t.CacheRead += l.Usage.CacheRead
	t.CacheWrite += l.Usage.CacheWrite
	t.Output += l.Usage.Output
	t.Recalls += int64(l.Recalls)
	for _, one := range []struct {
		is bool
		n  *int64
	}{{l.Side, &t.Side}, {l.Status == 0 || l.Status >= 400, &t.Errors}, {l.Cut, &t.Cut}, {l.Cold != "", &t.Cold}, {l.Odd != "", &t.Odd}, {l.Curated, &t.Curated}, {l.Epoch != "", &t.Epochs}} {
		if one.is {
			*one.n++
		}
	}
}

// A Status is the state of a gateway.
type Status struct {
	Requests int64     `json:"requests"` // that came, of all kinds
	Refused  int64     `json:"refused"`  // by the gateway itself
	Running  int64     `json:"running"`
	Waiting  int       `json:"waiting"`  // calls that are still to be recorded
	Up       int64     `json:"up"`       // bytes
	Down     int64     `json:"down"`     // bytes
	Upstream []string  `json:"upstream"` // API=address
	Totals   Totals    `json:"totals"`
	Sessions []Row     `json:"sessions"` // by number
	At       time.Time `json:"at"`
}

// Status is the state at this moment. It may be asked for at any time.
func (g *Gateway) Status() Status {
	s := Status{
		Requests: g.counts.requests.Load(), Refused: g.counts.refused.Load(), Running: g.counts.running.Load(),
		Up: g.counts.up.Load(), Down: g.counts.down.Load(), Waiting: len(g.observer.queue), Sessions: []Row{}, At: g.options.Pool.Now(),
	}
	for _, a := range APIs() {
		s.Upstream = append(s.Upstream, string(a)+"="+g.upstreams[a].String())
	}
	o := g.observer
	o.mu.Lock()
	defer o.mu.Unlock()
	s.Totals = o.totals
	s.Totals.Lost += o.lost.Load()
	for _, r := range o.rows {
		s.Sessions = append(s.Sessions, r)
	}
	slices.SortFunc(s.Sessions, func(a, b Row) int { return cmp.Compare(a.Session, b.Session) })
	return s
}

// count makes what one call added known to who asks.
func (o *observer) count(l Line) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.totals.add(&l)
}

// publish makes the row of a session known to who asks.
func (o *observer) publish(s *session) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rows[s.name.Number] = s.row
}

// unpublish takes it back.
func (o *observer) unpublish(s *session) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.rows, s.name.Number)
}

// report answers what is asked of the gateway itself.
func (g *Gateway) report(w http.ResponseWriter, r *http.Request, path string) {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		answer(w, http.StatusMethodNotAllowed, json.RawMessage(`{"error":"only GET"}`))
	case path == "/quire/status":
		answerJSON(w, g.Status())
	case path == "/quire/sessions":
		answerJSON(w, g.Status().Sessions)
	case path == "/quire/metrics":
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		// A client that has left is no fault.
		_, _ = w.Write([]byte(metrics(g.Status())))
	default:
		answer(w, http.StatusNotFound, json.RawMessage(`{"error":"no such page; there are /quire/status, /quire/sessions and /quire/metrics"}`))
	}
}

func answerJSON[T Status | []Row](w http.ResponseWriter, v T) {
	body, err := json.Marshal(v)
	if err != nil {
		answer(w, http.StatusInternalServerError, json.RawMessage(`{"error":"it could not be written as JSON"}`))
		return
	}
	answer(w, http.StatusOK, body)
}

// A figure is one of what is counted.
type figure struct {
	name, kind, help string
	value            float64
}

// figures are all figures of a status but the tokens.
func (s *Status) figures() []figure {
	t := &s.Totals
	return []figure{
		{"requests_total", "counter", "Requests that came.", float64(s.Requests)},
		{"refused_total", "counter", "Requests that the gateway itself refused.", float64(s.Refused)},
		{"running", "gauge", "Requests under way.", float64(s.Running)},
		{"waiting", "gauge", "Calls that are still to be recorded.", float64(s.Waiting)},
		{"up_bytes_total", "counter", "Bytes of requests that were relayed.", float64(s.Up)},
		{"down_bytes_total", "counter", "Bytes of answers that were relayed.", float64(s.Down)},
		{"calls_total", "counter", "Model calls.", float64(t.Calls)},
		{"side_calls_total", "counter", "Model calls that belong to no session.", float64(t.Side)},
		{"error_calls_total", "counter", "Model calls without an answer.", float64(t.Errors)},
		{"cut_calls_total", "counter", "Answers that did not come to their end.", float64(t.Cut)},
		{"cold_calls_total", "counter", "Model calls that found nothing in the cache.", float64(t.Cold)},
		{"lost_calls_total", "counter", "Model calls that were not recorded because too much waited.", float64(t.Lost)},
		{"odd_calls_total", "counter", "Model calls that could not be read.", float64(t.Odd)},
		{"faults_total", "counter", "Faults of recording.", float64(t.Faults)},
		{"curated_calls_total", "counter", "Model calls that went up as a stream of the gateway's.", float64(t.Curated)},
		{"epochs_total", "counter", "Epochs that began.", float64(t.Epochs)},
		{"recalls_total", "counter", "Pages that were read back in band.", float64(t.Recalls)},
		{"opened_total", "counter", "Failures of curation after which the client's own view went up.", float64(t.Opened)},
		{"cost_dollars_total", "counter", "Cost of the calls in US dollars.", t.Cost},
		{"sessions", "gauge", "Sessions that are known.", float64(len(s.Sessions))},
	}
}

// A tokens is how many tokens of a kind were used.
type tokens struct {
	kind string
	n    int64
}

func (s *Status) tokens() []tokens {
	t := &s.Totals
	return []tokens{{"input", t.Input}, {"cache_read", t.CacheRead}, {"cache_write", t.CacheWrite}, {"output", t.Output}}
}

// metrics is a status in the text format of Prometheus (version 0.0.4).
func metrics(s Status) string {
	var b strings.Builder
	for _, m := range s.figures() {
		fmt.Fprintf(&b, "# HELP quire_%s %s\n# TYPE quire_%s %s\nquire_%s %v\n", m.name, m.help, m.name, m.kind, m.name, m.value)
	}
	b.WriteString("# HELP quire_tokens_total Tokens as providers reported them.\n# TYPE quire_tokens_total counter\n")
	for _, t := range s.tokens() {
		fmt.Fprintf(&b, "quire_tokens_total{kind=%q} %d\n", t.kind, t.n)
	}
	return b.String()
}

// Metrics are the same figures for a collector of OpenTelemetry.
func (s *Status) Metrics() []telemetry.Metric {
	var list []telemetry.Metric
	for _, f := range s.figures() {
		list = append(list, telemetry.Metric{Name: "quire." + strings.TrimSuffix(f.name, "_total"), Description: f.help, Sum: f.kind == "counter", Value: f.value})
	}
	for _, t := range s.tokens() {
		list = append(list, telemetry.Metric{
			Name: "quire.tokens", Unit: "{token}", Description: "Tokens as providers reported them.", Sum: true, Value: float64(t.n),
			Attributes: []telemetry.Attribute{{Key: "kind", Value: t.kind}},
		})
	}
	return list
}
