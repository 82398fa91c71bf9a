package token

import (
	"encoding/json"
	"fmt"
	"math"
)

// Coefficients say how many tokens of a model one unit of each class is.
type Coefficients [classCount]float64

// A Fit turns o200k counts into tokens of one model, and learns to do so better
// from recorded prompt sizes: least squares with a ridge towards the prior of
// the model's family and bounds on the coefficients. It minimises
//
//	Σ w·(tokens − x·β)² + Σ hold·(β − prior)²
//
// where the weight w of a growth falls with its size, because its error rises
// with it. A growth that the fit explains too low weighs more than one that it
// explains too high: a prompt that is larger than expected can be refused, one
// that is smaller costs nothing. A growth that it cannot explain at all holds
// something that is not in the record and weighs little.
//
// A Fit is not safe for concurrent use, except that Tokens and Coefficients of
// a frozen one are.
type Fit struct {
	state fitState
}

// fitState is what a Fit is made of, as it is stored.
type fitState struct {
	Prior   Coefficients             `json:"prior"`
	Now     Coefficients             `json:"now"`
	Matrix  [classCount]Coefficients `json:"matrix"` // Σ w·x·xᵀ
	Vector  Coefficients             `json:"vector"` // Σ w·tokens·x
	Samples int                      `json:"samples"`
	Error   float64                  `json:"error"`  // Σ |tokens − x·β| before each was learnt
	Growth  float64                  `json:"growth"` // Σ |tokens|
	Frozen  bool                     `json:"frozen"`
}

// NewFit begins at what was measured for the family of the model.
func NewFit(model string) *Fit {
	p := prior(model)
	return &Fit{fitState{Prior: p, Now: p}}
}

// Observe learns from the growth of a recorded prompt between two calls of one
// model: x is what entered it less what left it, tokens by how much the
// recorded size grew. Growths across a compaction, a rewind or a change of
// model teach nothing and must not be given. A frozen fit learns nothing.
func (f *Fit) Observe(x Features, tokens int) {
	s := &f.state
	if s.Frozen {
		return
	}
	miss := float64(tokens) - s.Now.dot(x)
	s.Samples++
	s.Error += math.Abs(miss)
	s.Growth += math.Abs(float64(tokens))
	s.learn(x, float64(tokens), weight(x, miss))
}

const (
	noise      = 600  // tokens of text by which a growth of nothing is uncertain
	caution    = 1.5  // weight of an explanation that is too low
	outlier    = 10   // standard errors from which a growth is not believed
	holdRatio  = 3000 // a growth of 350 tokens of one class is worth as much as the prior
	holdFrames = 3    // so are 75 small messages
	sweeps     = 20   // from where the fit stood before, which is near
)

// weight is the weight of a growth that the fit misses by miss.
func weight(x Features, miss float64) float64 {
	size := float64(noise)
	for c := Prose; c <= Native; c++ {
		size += math.Abs(float64(x[c]))
	}
	w := 1 / math.Sqrt(size)
	if miss > 0 {
		w *= caution
	}
	if most := outlier * math.Sqrt(noise*size); math.Abs(miss) > most {
		w *= most / math.Abs(miss)
	}
	return w
}

func (s *fitState) learn(x Features, tokens, w float64) {
	for i, a := range x {
		for j, b := range x {
			s.Matrix[i][j] += w * float64(a) * float64(b)
		}
		s.Vector[i] += w * float64(a) * tokens
	}
	s.solve()
}

// solve finds the minimum within the bounds by descending along one coordinate
// after the other, which converges because the function is convex and the
// bounds are a box.
func (s *fitState) solve() {
	low, high := bounds()
	b := s.Now
	for range sweeps {
		for i := range b {
			hold := float64(holdRatio)
			if Class(i) >= Message {
				hold = holdFrames
			}
			rest := s.Vector[i] + hold*s.Prior[i] + s.Matrix[i][i]*b[i] - s.Matrix[i].times(b)
			b[i] = min(max(rest/(s.Matrix[i][i]+hold), low[i]), high[i])
		}
	}
	s.Now = b
}

// bounds are the sane ranges. Recorded thinking may be a summary of what the
// provider counts. A harness may leave out of a call what it recorded, hence
// the negative bound.
func bounds() (low, high Coefficients) {
	for c := Prose; c <= Wide; c++ {
		low[c], high[c] = 0.8, 2.0
	}
	low[Thinking], high[Thinking] = 0.8, 3
	low[Native], high[Native] = 1, 1
	low[Message], high[Message] = 0, 60
	low[Call], high[Call] = -20, 150
	return low, high
}

func (c Coefficients) times(d Coefficients) float64 {
	sum := 0.0
	for i := range c {
		sum += c[i] * d[i]
	}
	return sum
}

func (c Coefficients) dot(x Features) float64 {
	sum := 0.0
	for i, n := range x {
		sum += c[i] * float64(n)
	}
	return sum
}

// Tokens returns how many tokens of the model x is. It is monotone in each
// class of text.
func (f *Fit) Tokens(x Features) int { return int(math.Round(f.state.Now.dot(x))) }

// Coefficients returns the fit as it stands.
func (f *Fit) Coefficients() Coefficients { return f.state.Now }

// Freeze ends learning.
func (f *Fit) Freeze() { f.state.Frozen = true }

// Samples returns how many growths were observed; 0 means that the fit is what
// was measured for the family, not for this session.
func (f *Fit) Samples() int { return f.state.Samples }

// MeanError returns the mean absolute miss of the fit on the growths it was
// shown, each judged before it was learnt, as a share of their mean size.
func (f *Fit) MeanError() float64 {
	if f.state.Growth == 0 {
		return 0
	}
	return f.state.Error / f.state.Growth
}

// MarshalJSON stores the fit; a fit read back goes on where this one stands.
func (f *Fit) MarshalJSON() ([]byte, error) { return json.Marshal(f.state) }

// UnmarshalJSON reads a stored fit.
func (f *Fit) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &f.state); err != nil {
		return fmt.Errorf("read a token fit: %w", err)
	}
	return nil
}
