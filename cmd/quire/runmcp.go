package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/quire-agent/quire/internal/mcp"
	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/x/trust"
)

// The files that name servers: one of the user in the home, and one of the project.
const (
	userServers    = "mcp.json"
	projectServers = ".mcp.json"
)

// servers are those of the project and of the user, by name.
func (inv *invocation) servers(home, dir string, trusted *trust.Store) ([]mcp.Server, error) {
	project, err := mcp.Read(filepath.Join(dir, projectServers), mcp.OfProject, trusted)
	if err != nil {
		return nil, err
	}
	user, err := mcp.Read(filepath.Join(home, userServers), mcp.OfUser, trusted)
	if err != nil {
		return nil, err
	}
	return mcp.Merge(project, user), nil
}

// hubOptions say how servers are connected to. Keys are found as those of models
// are.
func (inv *invocation) hubOptions(ctx context.Context, home, dir string) mcp.Options {
	keys := model.Keys{Env: inv.env.lookup, Dir: filepath.Join(home, "keys"), Ring: inv.ring()}
	auth := func(provider string) (string, bool) {
		if provider == "" || strings.Trim(provider, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", false // it would be the path of some file
		}
		p, _, err := model.Split(provider)
		if err != nil {
			p = model.Provider{Name: provider}
		}
		key, err := keys.Find(ctx, p)
		return key.Reveal(), err == nil && !key.Empty()
	}
	return mcp.Options{Version: inv.release().Version, Dir: dir, Env: inv.commandEnv(), Auth: auth, Client: model.NewClient(inv.env.lookup)}
}
