package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// An exchange is one request with what is known of it so far.
type exchange struct {
	*Sim
	route
	w http.ResponseWriter
	r *http.Request

	key     string
	body    []byte
	valid   bool // the body is JSON
	note    *Request
	call    quire.Call
	known   price.Model
	charge  price.Charge
	prompt  int // tokens
	blocks  []price.Block
	dropped int
}

// serve answers a request to one of the APIs.
func (s *Sim) serve(w http.ResponseWriter, r *http.Request, to route) {
	e := &exchange{Sim: s, route: to, w: w, r: r, key: keyOf(to.api, r)}
	refused := e.read()
	e.begin()
	if refused == nil {
		refused = s.admit(to.api, r)
	}
	if refused == nil {
		refused = e.understand()
	}
	if refused != nil {
		s.record.change(e.note, func(q *Request) { q.Refused = refused.message })
		e.refuse(refused)
		return
	}
	if e.count {
		e.sized()
		return
	}
	e.answer()
}

// read takes the body, up to its limit.
func (e *exchange) read() *refusal {
	limit := or(e.options.Limits.Body, e.api.maxBody())
	body, err := io.ReadAll(io.LimitReader(e.r.Body, int64(limit)+1))
	if err != nil {
		return invalid("could not read the body of the request: %v", err)
	}
	if refused := tooLargeFor(e.api, len(body), e.options.Limits); refused != nil {
		return refused
	}
	e.body = body
	return nil
}

// begin makes the note of the request.
func (e *exchange) begin() {
	q := Request{At: e.options.Now(), API: e.api, Path: e.r.URL.Path, Header: withoutKeys(e.r.Header), Bytes: len(e.body)}
	if e.key != "" {
		q.Credential = credential(e.key)
	}
	if e.valid = json.Valid(e.body); e.valid {
		q.Body = e.body
	}
	e.note = e.record.begin(q)
}

// understand reads and judges the call, and counts it.
func (e *exchange) understand() *refusal {
	if !e.valid || !rawjson.IsObject(bytes.TrimSpace(e.body)) {
		return notJSON(e.api)
	}
	call, err := e.api.decode(e.body)
	if err != nil {
		return invalid("%v", errors.Unwrap(err))
	}
	if e.api == Gemini {
		call.Model, call.Stream = e.model, e.stream
	}
	e.call = call
	e.record.change(e.note, func(q *Request) { q.Model, q.Stream = call.Model, call.Stream })
	j := &judge{api: e.api, call: &e.call, limits: e.options.Limits, signer: e.signer, count: e.count}
	if refused := j.refuse(); refused != nil {
		return refused
	}
	e.dropped = j.dropped
	return e.meterPrompt(j)
}

func notJSON(api API) *refusal {
	switch api {
	case Messages:
		return invalid("The request body is not valid JSON")
	case Gemini:
		return invalid("Invalid JSON payload received. Expected an object.")
	}
	return invalid("We could not parse the JSON body of your request. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.")
}

// meterPrompt counts the prompt and, unless it is too long or only its size is
// wanted, sends it through the cache.
func (e *exchange) meterPrompt(j *judge) *refusal {
	known, window := e.meter.model(e.api, e.call.Model)
	blocks, total := e.meter.blocks(e.api, &e.call)
	e.known, e.prompt = known, total
	e.record.change(e.note, func(q *Request) { q.Prompt, q.Dropped = total, e.dropped })
	if refused := j.tooLong(total, or(e.options.Limits.Window, window)); refused != nil || e.count {
		return refused
	}
	e.blocks = blocks
	return nil
}

// sized answers how many tokens a prompt has.
func (e *exchange) sized() {
	name := "input_tokens"
	if e.api == Gemini {
		name = "totalTokens"
	}
	e.finish(http.StatusOK, "", quire.Usage{})
	e.Sim.write(e.w, http.StatusOK, []byte(`{"`+name+`":`+strconv.Itoa(e.prompt)+`}`))
}

// refuse answers an error.
func (e *exchange) refuse(r *refusal) {
	if r.after > 0 {
		e.w.Header().Set("Retry-After", seconds(r.after))
	}
	id := fmt.Sprintf("req_%06d", e.note.Number)
	e.w.Header().Set("Request-Id", id)
	e.finish(r.status, "", quire.Usage{})
	e.Sim.write(e.w, r.status, r.body(e.api, id))
}

func (e *exchange) finish(status int, stop quire.Stop, u quire.Usage) {
	e.record.change(e.note, func(q *Request) { q.Status, q.Stop, q.Usage, q.Lapsed = status, stop, u, e.charge.Lapsed })
}

// answer plays a turn of the script.
func (e *exchange) answer() {
	a, err := e.player.Next(e.call)
	if err != nil {
		e.failed(err)
		e.refuse(invalid("script: %v", err))
		return
	}
	e.record.change(e.note, func(q *Request) { q.Turn, q.Fault = a.Line, name(a.Fault) })
	if !e.pause(a.Fault.Wait) {
		return
	}
	switch f := a.Fault; {
	case f.Break == script.BreakDrop:
		panic(http.ErrAbortHandler)
	case f.Status != 0:
		e.refuse(&refusal{status: f.Status, message: first(f.Message, usual(f.Status)), after: f.After})
	default:
		e.reply(a)
	}
}

// name says what a fault is, for the record.
func name(f script.Fault) string {
	switch {
	case f.Status != 0:
		return strconv.Itoa(f.Status)
	case f.Break != "":
		return string(f.Break)
	case f.Wait > 0:
		return "wait"
	}
	return ""
}

// pause waits. It reports false when the client has left; the end of the simulator
// ends every wait.
func (e *exchange) pause(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.closed:
	case <-e.r.Context().Done():
		return false
	}
	return true
}

// reply sends an answer, whole or as a stream.
func (e *exchange) reply(a script.Answer) {
	e.charge = e.meter.charge(credential(e.key), e.known, e.call.Model, e.blocks, e.note.At)
	r := e.made(a)
	e.meter.answered(credential(e.key), e.known, e.call.Model, r.Blocks)
	e.finish(http.StatusOK, r.Stop, r.Usage)
	out := &faulty{w: e.w, fault: a.Fault, stalled: e.stall}
	var err error
	if e.call.Stream {
		err = e.streamed(out, r)
	} else {
		err = e.whole(out, r)
	}
	switch {
	case errors.Is(err, errBroken):
		panic(http.ErrAbortHandler)
	case err != nil && !errors.Is(err, errGarbled):
		e.failed(err)
		panic(http.ErrAbortHandler)
	}
}

func (e *exchange) whole(out *faulty, r quire.Reply) error {
	body, err := e.api.encode(r)
	if err != nil {
		return err
	}
	e.w.Header().Set("Content-Type", "application/json")
	return out.send(body)
}

// pieceRunes is how long the pieces of a text are in a stream.
const pieceRunes = 24

func (e *exchange) streamed(out *faulty, r quire.Reply) error {
	e.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	e.w.Header().Set("Cache-Control", "no-cache")
	encoder := e.api.encoder(e.call)
	for _, d := range script.Deltas(r, pieceRunes) {
		events, err := encoder.Encode(d)
		if err != nil {
			return err
		}
		if err := out.send(events); err != nil {
			return err
		}
	}
	return nil
}

// stall waits for so long, 0 for ever. It reports whether to go on.
func (e *exchange) stall(d time.Duration) bool {
	if d > 0 {
		return e.pause(d)
	}
	select {
	case <-e.closed:
	case <-e.r.Context().Done():
	}
	return false
}

// failed tells of a fault of the simulator or its script.
func (s *Sim) failed(err error) {
	if s.options.Failed != nil {
		s.options.Failed(err)
	}
}
