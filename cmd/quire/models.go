package main

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/price"
	"github.com/spf13/cobra"
)

func (inv *invocation) modelsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "models",
		Short: "List the providers of models and what is configured for them",
		Long: `List the providers of models: the protocol that is spoken, the address, where the
key was found, the model that is called where none is named, its context window and
its prices in US dollars per million tokens.

A model is named PROVIDER/MODEL. The one that does the work is the setting model;
its address is replaced by the setting model.url (--base-url). The provider chat is
any server of Chat Completions at an address that is given. script/FILE plays a
script.

A key is looked for in the variable that the list names, then in the file
keys/PROVIDER in the home folder of Quire, which nobody else may read, then in the
keyring of the system (service quire, account PROVIDER). quire models key set puts it
there. It is never shown. Calls go through the proxies of HTTPS_PROXY, HTTP_PROXY and NO_PROXY.`,
		Example: "  quire models\n  quire models --json\n  quire models test",
		Args:    exactly(),
	}
	asJSON := cmd.Flags().Bool("json", false, "write JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		list, err := inv.listModels(cmd)
		if err != nil {
			return err
		}
		if *asJSON {
			return writeJSON(inv.out, list)
		}
		return inv.showModels(list)
	}
	bind(cmd.Flags(), string(config.Model), string(config.ModelURL), string(config.Prices))
	cmd.AddCommand(inv.modelsTestCommand(), inv.modelsKeyCommand())
	return cmd
}

// A listedModel is a provider as JSON shows it.
type listedModel struct {
	Provider string    `json:"provider"`
	API      model.API `json:"api"`
	Base     string    `json:"base_url,omitempty"`
	Key      string    `json:"key"`            // ready, none, missing, refused
	From     string    `json:"from,omitempty"` // where the key was found
	Fault    string    `json:"fault,omitempty"`
	Model    string    `json:"model,omitempty"`  // that is called where none is named
	Chosen   bool      `json:"chosen"`           // it is the setting model
	Window   int       `json:"window,omitempty"` // tokens
	Prices   *prices   `json:"usd_per_million,omitempty"`
}

// prices are in US dollars per million tokens.
type prices struct {
	Input  float64 `json:"input"`
	Read   float64 `json:"cache_read"`
	Write  float64 `json:"cache_write"`
	Output float64 `json:"output"`
}

func (inv *invocation) listModels(cmd *cobra.Command) ([]listedModel, error) {
	s, err := inv.settings(cmd)
	if err != nil {
		return nil, err
	}
	b, err := inv.newBooth(s)
	if err != nil {
		return nil, err
	}
	table, err := priceTable(s.Path(config.Prices))
	if err != nil {
		return nil, err
	}
	var list []listedModel
	used, id, _ := model.Split(s.Name(config.Model)) // another model is none of the list
	for _, p := range model.Providers() {
		one := listedModel{Provider: p.Name, API: p.API, Model: p.Default, Chosen: p.Name == used.Name}
		if one.Chosen {
			one.Model = id
		}
		one.Base = redacted(b.bases.Put(p, one.Chosen).Base)
		one.Key, one.From, one.Fault = keyState(b.keys.Find(cmd.Context(), p))
		one.price(table)
		list = append(list, one)
	}
	return list, nil
}

// redacted is an address without the password in it.
func redacted(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Redacted()
}

func keyState(key model.Key, err error) (state, from, fault string) {
	e, failed := errors.AsType[*model.KeyError](err)
	switch {
	case failed && e.Missing:
		return "missing", "", ""
	case failed:
		return "refused", "", e.Message + ": " + e.Next
	case key.Empty():
		return "none", "", ""
	default:
		return "ready", key.From, ""
	}
}

const million = 1e6

func (m *listedModel) price(table *price.Table) {
	known, ok := table.Model(m.Model)
	if !ok {
		return
	}
	m.Window = known.Window
	p := known.Rates(time.Now()).Prices
	m.Prices = &prices{p.Input * million, p.Read * million, p.Write * million, p.Output * million}
}

func (inv *invocation) showModels(list []listedModel) error {
	table := tabwriter.NewWriter(inv.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PROVIDER\tAPI\tKEY\tMODEL\tWINDOW\tIN\tOUT\tADDRESS")
	for i := range list {
		m := &list[i]
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Provider, m.API, m.keyWords(), shown(m.Model)+m.mark(), m.window(), m.rates(), shown(m.Base))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for i := range list {
		if m := &list[i]; m.Fault != "" {
			fmt.Fprintf(inv.out, "\n%s: %s\n", m.Provider, m.Fault)
		}
	}
	return nil
}

func (m *listedModel) mark() string {
	if m.Chosen {
		return " (chosen)"
	}
	return ""
}

func (m *listedModel) keyWords() string {
	switch m.Key {
	case "ready":
		return m.From
	case "none":
		return "not needed"
	case "missing":
		p, _ := model.Named(m.Provider)
		return "missing: " + p.Vars[0]
	default:
		return m.Key
	}
}

func (m *listedModel) window() string {
	if m.Window == 0 {
		return "-"
	}
	return strconv.Itoa(m.Window)
}

func (m *listedModel) rates() string {
	if m.Prices == nil {
		return "-\t-"
	}
	return fmt.Sprintf("$%.4g\t$%.4g", m.Prices.Input, m.Prices.Output)
}
