package telemetry

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The names of signals, as variables have them.
const (
	traces  = "TRACES"
	metrics = "METRICS"
)

// The protocols of exporters.
const (
	protobuf = "http/protobuf"
	jsonText = "http/json"
	grpc     = "grpc"
)

// Defaults of the specification.
const (
	defaultTimeout  = 10 * time.Second
	defaultDelay    = 5 * time.Second
	defaultInterval = time.Minute
	defaultQueue    = 32768 // the specification says 2048, which loses spans of plans with thousands of objects
	defaultBatch    = 512
)

// closeLimit is how long a command waits at its end for unsent data, unless a timeout is set.
const closeLimit = 2 * time.Second

// reader reads settings. Unusable ones are problems, and count as not set.
type reader struct {
	vars     map[string]string
	problems []string
}

// get returns a setting of a signal: its own, else the setting for all signals.
func (r *reader) get(signal, name string) string {
	if v := strings.TrimSpace(r.vars["OTEL_EXPORTER_OTLP_"+signal+"_"+name]); v != "" {
		return v
	}
	return strings.TrimSpace(r.vars["OTEL_EXPORTER_OTLP_"+name])
}

// problem notes that a variable cannot be used. Its value is not shown: it may be a secret in the wrong
// place.
func (r *reader) problem(variable, why string) {
	r.problems = append(r.problems, variable+" "+why)
}

// number returns a setting that is a positive number.
func (r *reader) number(variable string, otherwise int) int {
	text := strings.TrimSpace(r.vars[variable])
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 || n > 1<<30 {
		r.problem(variable, "is not a positive number")
		return otherwise
	}
	return n
}

// millis returns a setting that is a number of milliseconds.
func (r *reader) millis(variable string, otherwise time.Duration) time.Duration {
	return time.Duration(r.number(variable, int(otherwise/time.Millisecond))) * time.Millisecond
}

// exporters returns the names of the exporters of a signal: none unless a variable asks for one.
func (r *reader) exporters(signal string) []string {
	variable := "OTEL_" + signal + "_EXPORTER"
	text := strings.TrimSpace(r.vars[variable])
	if text == "" && r.get(signal, "ENDPOINT") != "" {
		text = "otlp"
	}
	var out []string
	for name := range strings.SplitSeq(text, ",") {
		switch name = strings.TrimSpace(name); name {
		case "otlp", "console":
			out = append(out, name)
		case "", "none":
		default:
			r.problem(variable, "names an exporter that Mayfly does not have; it has otlp, console and none")
		}
	}
	return out
}

// destination is where and how a signal is sent.
type destination struct {
	url                      *url.URL
	protocol                 string
	headers                  [][2]string
	timeout                  time.Duration
	gzip                     bool
	ca, certificate, private string // files; "" for none
}

// paths are appended to the address of a receiver.
var paths = map[string]string{traces: "v1/traces", metrics: "v1/metrics"}

// services are the methods of receivers that speak gRPC.
var services = map[string]string{
	traces:  "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
	metrics: "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
}

// destination returns where a signal is sent; nil if that cannot be made out.
func (r *reader) destination(signal string) *destination {
	d := &destination{protocol: r.get(signal, "PROTOCOL"), ca: r.get(signal, "CERTIFICATE"), certificate: r.get(signal, "CLIENT_CERTIFICATE"), private: r.get(signal, "CLIENT_KEY")}
	switch d.protocol {
	case "":
		d.protocol = protobuf
	case protobuf, jsonText, grpc:
	default:
		r.problem("OTEL_EXPORTER_OTLP_PROTOCOL", "names a protocol that Mayfly does not speak; it speaks http/protobuf, http/json and grpc")
		return nil
	}
	switch r.get(signal, "COMPRESSION") {
	case "gzip":
		d.gzip = true
	case "", "none":
	default:
		r.problem("OTEL_EXPORTER_OTLP_COMPRESSION", "names a compression that Mayfly does not have; it has gzip and none")
	}
	own := "OTEL_EXPORTER_OTLP_" + signal + "_TIMEOUT"
	d.timeout = r.millis(own, r.millis("OTEL_EXPORTER_OTLP_TIMEOUT", defaultTimeout))
	d.headers = r.headers(signal)
	if d.url = r.address(signal, d.protocol); d.url == nil {
		return nil
	}
	return d
}

// address returns the URL that a signal is sent to; nil if it is wrong.
func (r *reader) address(signal, protocol string) *url.URL {
	variable := "OTEL_EXPORTER_OTLP_" + signal + "_ENDPOINT"
	text, own := strings.TrimSpace(r.vars[variable]), true
	if text == "" {
		variable, own = "OTEL_EXPORTER_OTLP_ENDPOINT", false
		text = strings.TrimSpace(r.vars[variable])
	}
	switch {
	case text == "" && protocol == grpc:
		text = "http://localhost:4317"
	case text == "":
		text = "http://localhost:4318"
	case protocol == grpc && !strings.Contains(text, "://"):
		text = "https://" + text
		if r.get(signal, "INSECURE") == "true" {
			text = "http" + strings.TrimPrefix(text, "https")
		}
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		r.problem(variable, "is not the address of a receiver, such as http://localhost:4318")
		return nil
	}
	switch {
	case protocol == grpc:
		u.Path, u.RawPath = services[signal], ""
	case !own:
		u = u.JoinPath(paths[signal])
	case u.Path == "":
		u.Path = "/"
	}
	return u
}

// headers returns the headers of each request, such as a token.
func (r *reader) headers(signal string) [][2]string {
	var out [][2]string
	for _, kv := range r.pairs("OTEL_EXPORTER_OTLP_HEADERS", r.get(signal, "HEADERS")) {
		if !validHeader(kv[0], kv[1]) {
			r.problem("OTEL_EXPORTER_OTLP_HEADERS", "has a header that cannot be sent")
			continue
		}
		out = append(out, kv)
	}
	return out
}

// validHeader reports whether a header can be sent.
func validHeader(name, value string) bool {
	odd := func(c rune) bool { return c <= ' ' || c >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, c) }
	return name != "" && !strings.ContainsFunc(name, odd) && !strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
}

// pairs parses name=value,name=value, where values are percent-encoded.
func (r *reader) pairs(variable, text string) [][2]string {
	var out [][2]string
	for kv := range strings.SplitSeq(text, ",") {
		if kv = strings.TrimSpace(kv); kv == "" {
			continue
		}
		name, encoded, ok := strings.Cut(kv, "=")
		value, err := url.PathUnescape(strings.TrimSpace(encoded))
		if !ok || err != nil || strings.TrimSpace(name) == "" {
			r.problem(variable, "is not a list like name=value,name=value")
			continue
		}
		out = append(out, [2]string{strings.TrimSpace(name), value})
	}
	return out
}

// limits bound the queue of data to be sent.
type limits struct {
	queue, batch    int
	delay, interval time.Duration // between batches, and between metrics
	close           time.Duration // at the end
}

func (r *reader) limits() limits {
	l := limits{
		queue: r.number("OTEL_BSP_MAX_QUEUE_SIZE", defaultQueue), batch: r.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", defaultBatch),
		delay: r.millis("OTEL_BSP_SCHEDULE_DELAY", defaultDelay), interval: r.millis("OTEL_METRIC_EXPORT_INTERVAL", defaultInterval),
	}
	l.batch = min(l.batch, l.queue)
	l.close = r.millis("OTEL_BSP_EXPORT_TIMEOUT", r.millis("OTEL_EXPORTER_OTLP_TIMEOUT", closeLimit))
	return l
}

// sampler returns the share of traces that are kept, of all or, with parents, of those that are not part of
// another process's.
func (r *reader) sampler() (share float64, parents bool) {
	name := strings.TrimSpace(r.vars["OTEL_TRACES_SAMPLER"])
	if name == "" {
		return 1, true
	}
	kind, parents := strings.CutPrefix(name, "parentbased_")
	switch kind {
	case "always_on":
		return 1, parents
	case "always_off":
		return 0, parents
	case "traceidratio":
		text := strings.TrimSpace(r.vars["OTEL_TRACES_SAMPLER_ARG"])
		share, err := strconv.ParseFloat(text, 64)
		if text != "" && (err != nil || !(share >= 0 && share <= 1)) {
			r.problem("OTEL_TRACES_SAMPLER_ARG", "is not a number from 0 to 1")
		}
		if err != nil || !(share >= 0 && share <= 1) {
			share = 1
		}
		return share, parents
	}
	r.problem("OTEL_TRACES_SAMPLER", "names a sampler that Mayfly does not have; it has always_on, always_off and traceidratio, each also after parentbased_")
	return 1, true
}

// propagates reports whether the current span is taken from and given to other programs.
func (r *reader) propagates() bool {
	text := strings.TrimSpace(r.vars["OTEL_PROPAGATORS"])
	if text == "" {
		return true
	}
	found := false
	for name := range strings.SplitSeq(text, ",") {
		switch strings.TrimSpace(name) {
		case "tracecontext":
			found = true
		case "baggage", "none": // baggage is in a variable that programs inherit as it is
		default:
			r.problem("OTEL_PROPAGATORS", "names a propagator that Mayfly does not have; it has tracecontext, baggage and none")
		}
	}
	return found
}

// resource returns the attributes of everything that is exported.
func (r *reader) resource(version string) []keyValue {
	set := map[string]int{}
	var out []keyValue
	put := func(key, text string) {
		if i, ok := set[key]; ok {
			out[i].Value = textValue(text)
			return
		}
		set[key] = len(out)
		out = append(out, keyValue{Key: key, Value: textValue(text)})
	}
	put("service.name", "mayfly")
	put("service.version", version)
	put("telemetry.sdk.language", "go")
	put("telemetry.sdk.name", "mayfly")
	put("telemetry.sdk.version", version)
	for _, kv := range r.pairs("OTEL_RESOURCE_ATTRIBUTES", r.vars["OTEL_RESOURCE_ATTRIBUTES"]) {
		put(kv[0], kv[1])
	}
	if name := strings.TrimSpace(r.vars["OTEL_SERVICE_NAME"]); name != "" {
		put("service.name", name)
	}
	return out
}

// file notes that a file which a setting names cannot be used.
func (r *reader) file(signal, name, reason string) {
	r.problem("OTEL_EXPORTER_OTLP_"+name, fmt.Sprintf("names a file for %s that cannot be used: %s", strings.ToLower(signal), reason))
}
