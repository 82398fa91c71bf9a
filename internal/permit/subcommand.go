package permit

import (
	"slices"
	"strings"
)

// verb is the first operand: the subcommand of those programs that have them.
func (c command) verb() string {
	if ops := c.operands(); len(ops) > 0 {
		return ops[0].text
	}
	return ""
}

// gitEffects judges git by its subcommand. What git records is changed by
// running git, which hooks of the repository may join, so it counts as running
// code.
func gitEffects(c command) []effect {
	ops := c.operands()
	switch {
	case len(ops) == 0:
		return []effect{{kind: looks}}
	case !ops[0].known:
		return []effect{{kind: hidden, why: "what git is told to do is not known before it runs"}}
	case c.hasSetting():
		return []effect{{kind: runs, why: "it sets options of git that can run commands"}}
	case gitRemote(ops):
		return []effect{{kind: connects}}
	case gitLooks(c, ops):
		return []effect{{kind: looks}}
	}
	return append(gitTargets(ops), effect{kind: runs})
}

// hasSetting reports whether options are set on git's command line.
func (c command) hasSetting() bool {
	for _, w := range c.args {
		if !w.flag() {
			return false
		}
		if strings.HasPrefix(w.text, "-c") || strings.HasPrefix(w.text, "--config-env") || strings.HasPrefix(w.text, "--exec-path=") {
			return true
		}
	}
	return false
}

func gitRemote(ops []word) bool {
	switch ops[0].text {
	case "push", "fetch", "pull", "clone", "ls-remote", "send-email", "svn", "request-pull":
		return true
	case "submodule", "remote", "lfs":
		return len(ops) > 1 && slices.Contains([]string{"update", "show", "fetch", "pull", "push", "prune"}, ops[1].text)
	}
	return false
}

func gitLooks(c command, ops []word) bool {
	if c.hasFlag("--ext-diff", "--textconv", "--output", "--open-files-in-pager", "-O") || c.loose() && !c.terminated() && ops[0].text != "show" {
		return false
	}
	rest := len(ops) - 1
	switch ops[0].text {
	case "status", "diff", "log", "show", "blame", "annotate", "rev-parse", "ls-files", "ls-tree", "cat-file", "describe", "grep", "shortlog", "rev-list", "name-rev", "for-each-ref", "merge-base", "diff-tree", "diff-index", "diff-files", "check-ignore", "check-attr", "var", "version", "help", "whatchanged", "cherry", "count-objects", "show-ref", "show-branch", "range-diff", "verify-commit":
		return true
	case "branch", "tag":
		lists := rest == 0 || c.hasFlag("-l", "--list", "--show-current", "--contains", "--merged", "--no-merged", "--points-at")
		return lists && !c.hasFlag("-d", "-D", "-m", "-M", "-c", "-C", "-f", "--delete", "--move", "--copy", "--edit-description", "--unset-upstream", "--set-upstream-to", "-u")
	case "remote":
		return rest == 0 || ops[1].text == "get-url"
	case "stash", "worktree", "bisect", "notes":
		return rest > 0 && slices.Contains([]string{"list", "show", "log"}, ops[1].text)
	case "config":
		return c.hasFlag("--get", "--get-all", "--get-regexp", "--list", "-l") || rest > 0 && (ops[1].text == "get" || ops[1].text == "list") || rest == 1 && len(c.args) == 2
	case "reflog":
		return rest == 0 || ops[1].text == "show"
	}
	return false
}

// gitTargets are the paths that git changes by name.
func gitTargets(ops []word) []effect {
	switch ops[0].text {
	case "rm":
		return []effect{{kind: removes, paths: ops[1:]}}
	case "mv":
		return []effect{{kind: changes, paths: ops[1:]}}
	}
	return nil
}

func goEffects(c command) []effect {
	switch c.verb() {
	case "version", "help", "doc":
		return []effect{{kind: looks}}
	case "env":
		if !c.hasFlag("-w", "-u") {
			return []effect{{kind: looks}}
		}
	case "list":
		if !c.hasFlag("-toolexec", "-export", "-m", "-u") && !c.loose() {
			return []effect{{kind: looks}}
		}
	case "get", "install":
		return []effect{{kind: connects}}
	case "mod":
		if ops := c.operands(); len(ops) > 1 && (ops[1].text == "download" || ops[1].text == "tidy") {
			return []effect{{kind: connects}}
		}
	}
	return []effect{{kind: runs}}
}

// packaged judges the programs that fetch packages or talk to a service: their
// subcommands say whether they do so now.
func packaged(c command) []effect {
	if len(c.args) == 1 && slices.Contains([]string{"--version", "-v", "-V", "--help", "version", "help"}, c.args[0].text) {
		return []effect{{kind: looks}}
	}
	offline := map[string][]string{
		"npm": {"test", "t", "run", "run-script", "start", "ls", "list", "pack", "prefix", "root"}, "pnpm": {"test", "t", "run", "start", "ls", "list"}, "yarn": {"test", "run", "start", "lint", "build", "list"}, "bun": {"test", "run", "build"},
		"pip": {"list", "show", "freeze", "check"}, "pip3": {"list", "show", "freeze", "check"}, "uv": {"run"}, "poetry": {"run", "show", "check"}, "cargo": {"test", "build", "check", "fmt", "clippy", "run", "bench", "doc", "clean", "metadata", "tree"}, "bundle": {"exec", "list", "show"}, "composer": {"run", "show", "validate"},
		"docker": {"ps", "images", "logs", "inspect"}, "podman": {"ps", "images", "logs", "inspect"}, "deno": {"test", "fmt", "lint", "check"},
	}
	if slices.Contains(offline[c.name.text], c.verb()) {
		return []effect{{kind: runs}}
	}
	return []effect{{kind: connects}, {kind: runs}}
}
