package main

import (
	"strconv"

	"github.com/quire-agent/quire/internal/config"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// keyAnnotation marks a flag that sets a key of the configuration.
const keyAnnotation = "quire-key"

// bind gives a command the flags of keys, with the names, defaults and help that
// the keys declare. Their values are read through [invocation.settings] only.
func bind(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		k, ok := config.Lookup(name)
		if !ok || k.Flag == "" {
			panic("quire: no flag is declared for the key " + name) // wrong wiring, found by any test
		}
		flags.Var(newKeyFlag(k), k.Flag, k.Help)
		f := flags.Lookup(k.Flag)
		f.Annotations = map[string][]string{keyAnnotation: {k.Name}}
		if k.Type == config.TypeBool {
			f.NoOptDefVal = strconv.FormatBool(true)
		}
	}
}

// givenFlags lists the flags of keys that were given, by name.
func givenFlags(cmd *cobra.Command) []config.Flag {
	var given []config.Flag
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if key := f.Annotations[keyAnnotation]; len(key) == 1 {
			given = append(given, config.Flag{Key: key[0], Value: f.Value.String()})
		}
	})
	return given
}

// A keyFlag is the flag of a key. It keeps the text as it was given; the
// configuration resolves it (a path, for example, from the working directory).
type keyFlag struct {
	key  config.Key
	text string
}

func newKeyFlag(k config.Key) *keyFlag { return &keyFlag{k, k.Default} }

// String is the value as given, or the default.
func (f *keyFlag) String() string { return f.text }

// Set checks a value.
func (f *keyFlag) Set(text string) error {
	if _, err := f.key.Parse(text); err != nil {
		return err
	}
	f.text = text
	return nil
}

// Type is what the help shows as the kind of value.
func (f *keyFlag) Type() string {
	switch f.key.Type {
	case config.TypeBool:
		return "bool"
	case config.TypeInt:
		return "int"
	case config.TypePath:
		return "file"
	default:
		return "word"
	}
}
