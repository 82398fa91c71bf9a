package permit

// Defaults is the layer that comes first. It can be relaxed like any other: a
// later layer with the same pattern takes its place.
func Defaults() Layer {
	ask := func(reason string, patterns ...string) []Rule {
		var list []Rule
		for _, p := range patterns {
			list = append(list, Rule{Command: p, Verdict: Ask, Reason: reason})
		}
		return list
	}
	l := Layer{Name: "built in"}
	l.Rules = append(l.Rules, ask("it sends work of this project to others",
		"git push", "npm publish", "pnpm publish", "yarn publish", "bun publish", "yarn npm publish", "cargo publish", "gem push", "twine upload", "poetry publish",
		"uv publish", "docker push", "podman push", "helm push", "gh pr create", "gh pr merge", "gh release create", "gh repo delete", "goreleaser release",
		"mvn deploy", "dotnet nuget push", "kubectl apply", "kubectl delete", "terraform apply", "terraform destroy", "vercel deploy", "fly deploy")...)
	l.Rules = append(l.Rules, ask("it throws work away that git does not keep",
		"git reset --hard", "git clean -f", "git stash drop", "git stash clear", "git branch -D", "git filter-branch", "git gc --prune", "git reflog expire")...)
	l.Rules = append(l.Rules, deny()...)
	l.Rules = append(l.Rules, paths()...)
	return l
}

func deny() []Rule {
	var list []Rule
	for _, p := range []string{"rm -r /", `rm -r /\*`, "rm -r ~", "rm -r ~/", `rm -r ~/\*`, "mkfs", "mkfs.*", "fdisk", "parted", "shutdown", "reboot", "halt", "poweroff"} {
		list = append(list, Rule{Command: p, Verdict: Deny, Reason: "nothing would bring back what it does to this machine"})
	}
	return list
}

func paths() []Rule {
	var list []Rule
	for _, p := range []string{".git", ".git/**", "**/.git/**"} {
		list = append(list, Rule{Write: p, Verdict: Ask, Reason: "it is git's own record"})
	}
	for _, p := range []string{".github/workflows/**", ".gitlab-ci.yml", ".env", ".env.*", "**/.env"} {
		list = append(list, Rule{Write: p, Verdict: Ask, Review: ReviewRequired, Reason: "it decides what runs elsewhere or holds secrets"})
	}
	for _, p := range []string{"**/.env", "**/.env.local", "**/.env.production", "**/.ssh/**", "**/.aws/**", "**/.gnupg/**", "**/.netrc", "**/.npmrc", "**/.pypirc", "**/id_rsa", "**/id_ed25519", "**/*.pem", "**/*.key", "/etc/shadow"} {
		list = append(list, Rule{Read: p, Verdict: Ask, Reason: "such files hold secrets"})
	}
	return list
}
