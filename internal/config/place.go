package config

import (
	"os"
	"path/filepath"
	"strings"
)

// userFile is the path of the user's settings file, "" without a home.
func (s *Settings) userFile() string {
	if s.home == "" {
		return ""
	}
	return filepath.Join(s.home, "settings.json")
}

// projectFile is the path of the settings file of the repository around dir, ""
// outside one. The user's own file is never a project's, also where the user's
// home folder is a repository.
func projectFile(dir, userFile string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
	file := filepath.Join(dir, ".quire", "settings.json")
	if sameFile(file, userFile) {
		return ""
	}
	return file
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// absolute resolves ~ and makes a relative path stand from base. "" stays.
func (s *Settings) absolute(path, base string) string {
	if path == "" {
		return ""
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if s.sources.UserHome == "" {
			return ""
		}
		return filepath.Join(s.sources.UserHome, rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}
