// Package git is the tools that look at the repository: git_status, git_diff,
// git_log. They change nothing and start no program that the repository names;
// everything else of git goes through the shell.
package git
