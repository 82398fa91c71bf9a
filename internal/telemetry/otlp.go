package telemetry

import "strconv"

// The types of this file are the JSON of OTLP metrics: its names, with whole numbers
// of 64 bits as text.
type (
	request struct {
		Resources []resourceMetrics `json:"resourceMetrics"`
	}
	resourceMetrics struct {
		Resource resource       `json:"resource"`
		Scopes   []scopeMetrics `json:"scopeMetrics"`
	}
	resource struct {
		Attributes []attribute `json:"attributes"`
	}
	scopeMetrics struct {
		Scope   scope    `json:"scope"`
		Metrics []metric `json:"metrics"`
	}
	scope struct {
		Name string `json:"name"`
	}
	metric struct {
		Name        string `json:"name"`
		Unit        string `json:"unit,omitempty"`
		Description string `json:"description,omitempty"`
		Sum         *sum   `json:"sum,omitempty"`
		Gauge       *gauge `json:"gauge,omitempty"`
	}
	sum struct {
		Points      []point `json:"dataPoints"`
		Temporality int     `json:"aggregationTemporality"`
		Monotonic   bool    `json:"isMonotonic"`
	}
	gauge struct {
		Points []point `json:"dataPoints"`
	}
	point struct {
		Attributes []attribute `json:"attributes,omitempty"`
		Began      string      `json:"startTimeUnixNano,omitempty"`
		At         string      `json:"timeUnixNano"`
		Value      float64     `json:"asDouble"`
	}
	attribute struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		Text string `json:"stringValue"`
	}
)

// cumulative says that a sum counts from the beginning.
const cumulative = 2

// request is what is posted. Figures of one name that follow each other are points
// of one metric.
func (e *Exporter) request(list []Metric) request {
	at := strconv.FormatInt(e.now().UnixNano(), 10)
	began := strconv.FormatInt(e.began.UnixNano(), 10)
	var metrics []metric
	for i := range list {
		m := &list[i]
		if i == 0 || list[i-1].Name != m.Name {
			metrics = append(metrics, newMetric(m))
		}
		last := &metrics[len(metrics)-1]
		p := point{Attributes: attributes(m.Attributes), At: at, Value: m.Value}
		if last.Sum != nil {
			p.Began = began
			last.Sum.Points = append(last.Sum.Points, p)
		} else {
			last.Gauge.Points = append(last.Gauge.Points, p)
		}
	}
	return request{[]resourceMetrics{{Resource: resource{attributes(e.resource)}, Scopes: []scopeMetrics{{Scope: scope{"quire"}, Metrics: metrics}}}}}
}

func newMetric(m *Metric) metric {
	out := metric{Name: m.Name, Unit: m.Unit, Description: m.Description}
	if m.Sum {
		out.Sum = &sum{Temporality: cumulative, Monotonic: true}
	} else {
		out.Gauge = &gauge{}
	}
	return out
}

func attributes(list []Attribute) []attribute {
	out := make([]attribute, len(list))
	for i, a := range list {
		out[i] = attribute{a.Key, value{a.Value}}
	}
	return out
}
