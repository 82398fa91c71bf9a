package mcp_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quire-agent/quire/internal/mcp"
)

type memory struct{}

func (memory) Recall(_ context.Context, query string) (string, error) { return "found " + query, nil }

func (memory) Show(_ context.Context, page string) (string, error) {
	return "", errors.New("there is no page " + page)
}

// A client of the protocol lists both tools, calls them, and leaves.
func TestServe(t *testing.T) {
	theirIn, ourOut := io.Pipe()
	ourIn, theirOut := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcp.Serve(t.Context(), "v1", memory{}, ourIn, ourOut) }()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "v1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: theirIn, Writer: theirOut}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range list.Tools {
		names = append(names, one.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"recall", "show"}) {
		t.Errorf("%q", names)
	}
	for _, want := range []struct {
		tool, key, value, text string
		failed                 bool
	}{{"recall", "query", "a port", "found a port", false}, {"show", "page", "p9", "there is no page p9", true}} {
		got, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: want.tool, Arguments: map[string]string{want.key: want.value}})
		if err != nil {
			t.Fatal(err)
		}
		if text := got.Content[0].(*sdk.TextContent).Text; text != want.text || got.IsError != want.failed {
			t.Errorf("%s: %q, an error: %v", want.tool, text, got.IsError)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
