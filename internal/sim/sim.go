package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/token"
)

// Options are what a simulator is made with. All but the Counter may be left out.
type Options struct {
	Counter *token.Counter
	Prices  *price.Table   // models with their windows and prefix rules; nil: the embedded table
	Script  *script.Script // nil: what the user said last is said back
	Limits  Limits
	Key     string           // the one key that is taken; "": any
	Secret  string           // what signatures are keyed with; equal secrets take each other's thinking
	Now     func() time.Time // nil: the clock
	Failed  func(error)      // told of faults of the simulator itself; nil: nobody is
}

// A Sim is a simulator. It is an [http.Handler]; any number of requests may run at
// a time, and those of one credential and model change its cache in the order in
// which they are taken.
type Sim struct {
	options Options
	player  *script.Player
	meter   *meter
	signer  signer
	record  record

	closing sync.Once
	closed  chan struct{} // no stall and no wait goes on
}

// New makes a simulator.
func New(o Options) (*Sim, error) {
	if o.Prices == nil {
		o.Prices = price.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Script == nil {
		echo, err := script.Parse("turn always\n say ${user}")
		if err != nil {
			return nil, fmt.Errorf("make a simulator: %w", err)
		}
		o.Script = echo
	}
	return &Sim{
		options: o, player: o.Script.Play(), meter: newMeter(o.Counter, o.Prices),
		signer: signer{[]byte(o.Secret)}, closed: make(chan struct{}),
	}, nil
}

// Close ends the answers that wait or stall. Requests after it are served all the
// same, without waits.
func (s *Sim) Close() { s.closing.Do(func() { close(s.closed) }) }

// Requests are the requests to the four APIs so far, in the order in which they
// came.
func (s *Sim) Requests() []Request { return s.record.all() }

// ServeHTTP answers a request. To break a connection it panics with
// [http.ErrAbortHandler], which a server takes for that.
func (s *Sim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route, ok := routeOf(r)
	switch {
	case !ok:
		s.nothing(w, r)
	case route.list != nil:
		route.list(s, w, r)
	default:
		s.serve(w, r, route)
	}
}

// credential names a key without telling it.
func credential(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:4])
}
