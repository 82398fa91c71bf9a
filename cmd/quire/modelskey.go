package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/quire-agent/quire/internal/model"
	"github.com/spf13/cobra"
)

func (inv *invocation) modelsKeyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Keep the key of a provider, or remove it",
		Long: `Keep the key of a provider in a file of the home folder of Quire that only you can
read, or in the keyring of the system, or remove it from both.`,
		Example: "  quire models key set anthropic < key.txt\n  quire models key rm anthropic",
		Args:    inv.unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(inv.keySetCommand(), inv.keyRemoveCommand())
	return cmd
}

func (inv *invocation) keySetCommand() *cobra.Command {
	ring := false
	cmd := &cobra.Command{
		Use:   "set PROVIDER",
		Short: "Keep the key of a provider",
		Long: `Keep the key of a provider, in place of one that is kept already. It is read from
standard input, never from the command line, which others can see. It goes to the
file keys/PROVIDER in the home folder of Quire, which only you can read, or with
--keyring to the keyring of the system.`,
		Example: "  quire models key set anthropic < key.txt\n  pass show openai | quire models key set openai --keyring",
		Args:    exactly("PROVIDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return inv.setKey(cmd, args[0], ring)
		},
	}
	cmd.Flags().BoolVar(&ring, "keyring", false, "keep it in the keyring of the system")
	return cmd
}

func (inv *invocation) keyRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "rm PROVIDER",
		Short:   "Remove the key of a provider from its file and from the keyring",
		Long:    "Remove the key of a provider from its file in the home and from the keyring.",
		Example: "  quire models key rm openai",
		Args:    exactly("PROVIDER"),
		RunE:    func(cmd *cobra.Command, args []string) error { return inv.removeKey(cmd, args[0]) },
	}
}

// keyed is a provider that may have a key, and where keys are.
func (inv *invocation) keyed(cmd *cobra.Command, name string) (model.Provider, *booth, error) {
	p, ok := model.Named(name)
	if !ok {
		return p, nil, unusable(fmt.Errorf("%q is no provider", name), "`quire models` lists the providers")
	}
	s, err := inv.settings(cmd)
	if err != nil {
		return p, nil, err
	}
	b, err := inv.newBooth(s)
	return p, b, err
}

func (inv *invocation) setKey(cmd *cobra.Command, name string, ring bool) error {
	p, b, err := inv.keyed(cmd, name)
	if err != nil {
		return err
	}
	key, err := inv.readKey(p)
	if err != nil {
		return err
	}
	if ring {
		if inv.ring() == nil || inv.app.keepKey == nil {
			return unusable(errors.New("there is no keyring to ask"), "leave out --keyring to keep the key in a file that only you can read")
		}
		if err := inv.keep(cmd.Context(), p.Name, key.Reveal()); err != nil {
			return failure(err, "leave out --keyring to keep the key in a file that only you can read")
		}
		fmt.Fprintf(inv.out, "The key of %s is kept in the keyring.\n", p.Name)
		return inv.shadowed(cmd, p, b)
	}
	path, err := b.keys.Keep(p, key.Reveal())
	if err != nil {
		return failure(err, "make the folder one that you can write to")
	}
	fmt.Fprintf(inv.out, "The key of %s is kept in %s.\n", p.Name, path)
	return inv.shadowed(cmd, p, b)
}

// shadowed says where another key comes before the one that was kept.
func (inv *invocation) shadowed(cmd *cobra.Command, p model.Provider, b *booth) error {
	if key, err := b.keys.Find(cmd.Context(), p); err == nil {
		fmt.Fprintf(inv.out, "What is used is the key from %s.\n", key.From)
	}
	return nil
}

// keep keeps a secret in the keyring, or takes it out.
func (inv *invocation) keep(ctx context.Context, account, secret string) error {
	ctx, cancel := context.WithTimeout(ctx, ringLimit)
	defer cancel()
	return inv.app.keepKey(ctx, account, secret)
}

// mostKey bounds what is read as a key, in bytes.
const mostKey = 8 << 10

// readKey reads a key: from a terminal one line, else all there is.
func (inv *invocation) readKey(p model.Provider) (model.Key, error) {
	from := bufio.NewReader(io.LimitReader(inv.in, mostKey))
	var text string
	var err error
	if inv.mayAsk() {
		fmt.Fprintf(inv.err, "The key of %s (it shows as you type it) > ", p.Name)
		text, err = from.ReadString('\n')
	} else {
		var all []byte
		all, err = io.ReadAll(from)
		text = string(all)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return model.Key{}, fmt.Errorf("read the key: %w", err)
	}
	key, err := model.Check(p, text)
	if e, ok := errors.AsType[*model.KeyError](err); ok {
		return key, unusable(err, e.Next)
	}
	return key, err
}

func (inv *invocation) removeKey(cmd *cobra.Command, name string) error {
	p, b, err := inv.keyed(cmd, name)
	if err != nil {
		return err
	}
	var from []string
	there, err := b.keys.Drop(p)
	if err != nil {
		return failure(err, "remove the file by hand")
	}
	if there {
		from = append(from, "its file")
	}
	if ask := inv.ring(); ask != nil && inv.app.keepKey != nil {
		if text, err := ask(cmd.Context(), p.Name); err == nil && text != "" {
			if err := inv.keep(cmd.Context(), p.Name, ""); err != nil {
				return failure(err, "remove it with the program that shows the keyring: service quire, account "+p.Name)
			}
			from = append(from, "the keyring")
		}
	}
	if len(from) == 0 {
		fmt.Fprintf(inv.out, "No key of %s was kept.\n", p.Name)
	} else {
		fmt.Fprintf(inv.out, "The key of %s was removed from %s.\n", p.Name, strings.Join(from, " and "))
	}
	return inv.shadowed(cmd, p, b)
}
