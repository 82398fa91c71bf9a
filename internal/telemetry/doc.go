// Package telemetry sends figures to a collector of OpenTelemetry, over HTTP as
// JSON (OTLP 1.x, the form that every collector takes on its HTTP port). It does
// nothing unless the usual variables name a collector:
//
//	OTEL_EXPORTER_OTLP_METRICS_ENDPOINT   address to which metrics are posted
//	OTEL_EXPORTER_OTLP_ENDPOINT           or the base of it: /v1/metrics is added
//	OTEL_EXPORTER_OTLP_HEADERS            headers, as name=value,… with values escaped
//	OTEL_EXPORTER_OTLP_TIMEOUT            of one post, in milliseconds: 10000
//	OTEL_METRIC_EXPORT_INTERVAL           between posts, in milliseconds: 60000
//	OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES
//	OTEL_SDK_DISABLED=true, OTEL_METRICS_EXPORTER=none   nothing is sent
package telemetry
