package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Memory answers the tools. What it returns is shown to a model as it is: framed
// as data, with secrets masked. An error is shown too, as one. Both may be called
// concurrently.
type Memory interface {
	Recall(ctx context.Context, query string) (string, error)
	Show(ctx context.Context, page string) (string, error)
}

type recallInput struct {
	Query string `json:"query" jsonschema:"what is remembered of it: words, names, paths, error messages, page names"`
}

type showInput struct {
	Page string `json:"page" jsonschema:"name of a page, as s7/p412, or of lines of it, as s7/p412#L10-L40"`
}

// Serve serves one client until it closes its side or the context ends.
func Serve(ctx context.Context, version string, m Memory, in io.ReadCloser, out io.WriteCloser) error {
	reads := &sdk.ToolAnnotations{ReadOnlyHint: true}
	s := sdk.NewServer(&sdk.Implementation{Name: "quire", Version: version}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "recall", Description: "Find what was said, read or done before, in this session or an earlier one.", Annotations: reads},
		func(ctx context.Context, _ *sdk.CallToolRequest, q recallInput) (*sdk.CallToolResult, any, error) {
			text, err := m.Recall(ctx, q.Query)
			return shown(text, err)
		})
	sdk.AddTool(s, &sdk.Tool{Name: "show", Description: "Read a page that recall named, or lines of it, word for word.", Annotations: reads},
		func(ctx context.Context, _ *sdk.CallToolRequest, q showInput) (*sdk.CallToolResult, any, error) {
			text, err := m.Show(ctx, q.Page)
			return shown(text, err)
		})
	err := s.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		return fmt.Errorf("serve the memory: %w", err)
	}
	return ctx.Err()
}

// shown is a text as the result of a tool.
func shown(text string, err error) (*sdk.CallToolResult, any, error) {
	if err != nil {
		return nil, nil, err
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
}
