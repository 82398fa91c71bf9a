package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func (inv *invocation) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	cmd := &cobra.Command{
		Use:   "completion SHELL",
		Short: "Write the completion script of a shell",
		Long: `Write the script with which a shell completes commands, flags and settings:
bash (with its bash-completion package), zsh, fish or powershell.`,
		Example: `  source <(quire completion bash)
  quire completion zsh > "${fpath[1]}/_quire"
  quire completion fish > ~/.config/fish/completions/quire.fish
  quire completion powershell | Out-String | Invoke-Expression`,
		Args:      exactly("SHELL (" + strings.Join(shells, ", ") + ")"),
		ValidArgs: shells,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return inv.complete(cmd.Root(), args[0]) }
	return cmd
}

func (inv *invocation) complete(root *cobra.Command, shell string) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(inv.out, true)
	case "zsh":
		return root.GenZshCompletion(inv.out)
	case "fish":
		return root.GenFishCompletion(inv.out, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(inv.out)
	default:
		return unusable(fmt.Errorf("no completion for the shell %q", shell), "use one of bash, zsh, fish, powershell")
	}
}
