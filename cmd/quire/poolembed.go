package main

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/store/sqlite"
	"github.com/quire-agent/quire/internal/vector"
	"github.com/spf13/cobra"
)

// embedKey is the variable with the key of the embeddings endpoint.
const embedKey = "QUIRE_EMBED_KEY"

// Waits for an answer of the endpoint: of a search, and of work that may take long.
const (
	searchWait = 10 * time.Second
	makeWait   = 2 * time.Minute
)

// vectors is the index of meanings that the settings ask for, nil for none.
func (inv *invocation) vectors(cmd *cobra.Command, h *home, wait time.Duration) (*vector.Index, error) {
	s, err := inv.settings(cmd)
	if err != nil {
		return nil, err
	}
	url, model := s.Name(config.EmbedURL), s.Name(config.EmbedModel)
	switch {
	case url == "":
		return nil, nil
	case model == "":
		return nil, unusable(errors.New("embed.url is set and embed.model is not"), "`quire config set embed.model NAME` says which model makes the vectors")
	}
	return &vector.Index{
		Name: url + "\n" + model, Sets: h.pool.Vectors, Table: h.pool.Table, Texts: h,
		By: &vector.Endpoint{URL: url, Model: model, Key: inv.env.get(embedKey), Client: &http.Client{Timeout: wait}},
	}, nil
}

// embedReport is what `quire pool embed` did.
type embedReport struct {
	Sessions int `json:"sessions"`
	Pages    int `json:"pages"`  // that got vectors
	Pieces   int `json:"pieces"` // texts that were sent
}

func (inv *invocation) poolEmbedCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "embed",
		Short: "Make the vectors by which pages are found by meaning",
		Long: `Make the vectors by which pages are found by meaning beside words. The texts of the
pages that have none yet, with their secrets masked, are sent to the embeddings API
that the settings embed.url and embed.model name, with the key in QUIRE_EMBED_KEY if
it wants one. Nothing is sent anywhere unless embed.url is set, and only by this
command and, for its question, by quire recall.

What was made stays when the endpoint fails or the command is interrupted; the same
command goes on from there. Vectors are derived: they are deleted with their session,
with what is forgotten and with pool.db.`,
		Example: `  quire config set embed.url http://localhost:11434/v1
  quire config set embed.model nomic-embed-text
  quire pool embed`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return inv.embed(cmd, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write what was done as one JSON object")
	return cmd
}

func (inv *invocation) embed(cmd *cobra.Command, asJSON bool) (err error) {
	h, err := inv.openKept(cmd, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	x, err := inv.vectors(cmd, h, makeWait)
	if err == nil && x == nil {
		err = unusable(errors.New("no endpoint is set"), "`quire config set embed.url URL` names one; `quire help pool embed` shows how")
	}
	if err != nil {
		return err
	}
	names, err := h.sessions()
	if err != nil {
		return err
	}
	var r embedReport
	for _, n := range names {
		made, err := x.Make(cmd.Context(), n.Number, inv.reader())
		if r.Pages, r.Pieces = r.Pages+made.Pages, r.Pieces+made.Pieces; made.Pages > 0 {
			r.Sessions++
		}
		if err != nil {
			return failure(errors.New(inv.mask(err.Error())), "what was made is kept; the same command goes on from there")
		}
	}
	if asJSON {
		return writeJSON(inv.out, r)
	}
	fmt.Fprintf(inv.out, "%d %s of %d %s got vectors, %d %s sent\n", r.Pages, plural(r.Pages, "page", "pages"), r.Sessions,
		plural(r.Sessions, "session", "sessions"), r.Pieces, plural(r.Pieces, "text was", "texts were"))
	return nil
}
