package vector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
)

// An Endpoint turns texts into vectors. It is not changed and may be used by
// several goroutines.
type Endpoint struct {
	URL    string // what stands before /embeddings, as https://host/v1
	Model  string
	Key    string // sent as a bearer token, "" for none
	Client *http.Client
}

// ErrAnswer is returned where an endpoint answered something else than a vector
// for each text.
var ErrAnswer = errors.New("not an answer of an embeddings endpoint")

// A request and an answer, as the embeddings API has them.
type (
	request struct {
		Model    string   `json:"model"`
		Input    []string `json:"input"`
		Encoding string   `json:"encoding_format"`
	}
	answer struct {
		Data []struct {
			Index  int       `json:"index"`
			Vector []float32 `json:"embedding"`
		} `json:"data"`
	}
)

// maxAnswer is the most bytes of an answer that are read.
const maxAnswer = 64 << 20

// Embed gives the vectors of texts, in their order and all of one length. The
// errors name neither the key nor the texts.
func (e *Endpoint) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(request{e.Model, texts, "float"})
	if err != nil {
		return nil, fmt.Errorf("embed: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(e.URL, "/")+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("embed: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	if e.Key != "" {
		r.Header.Set("Authorization", "Bearer "+e.Key)
	}
	data, err := e.do(r)
	if err != nil {
		return nil, fmt.Errorf("embed: %w", err)
	}
	return parseAnswer(data, len(texts))
}

func (e *Endpoint) do(r *http.Request) ([]byte, error) {
	resp, err := e.Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: status %s", ErrAnswer, resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
}

// parseAnswer reads n vectors.
func parseAnswer(data []byte, n int) ([][]float32, error) {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrAnswer, err)
	}
	out := make([][]float32, n)
	for _, d := range a.Data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil || !usable(d.Vector) || len(d.Vector) != len(a.Data[0].Vector) {
			return nil, fmt.Errorf("%w: vector %d of %d cannot be used", ErrAnswer, d.Index, n)
		}
		out[d.Index] = d.Vector
	}
	if len(a.Data) != n {
		return nil, fmt.Errorf("%w: %d vectors for %d texts", ErrAnswer, len(a.Data), n)
	}
	return out, nil
}

// maxDims is the longest vector that is kept.
const maxDims = 1<<16 - 1

// usable reports whether a vector has a direction.
func usable(v []float32) bool {
	if len(v) == 0 || len(v) > maxDims {
		return false
	}
	sum := norm(v)
	return sum > 0 && !math.IsInf(sum, 0) && !math.IsNaN(sum)
}

func norm(v []float32) (sum float64) {
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}
