package price

import "strings"

// canonical is the form under which a name is indexed: lower case, and the
// digits of a version separated by dashes.
func canonical(name string) string {
	b := []byte(strings.ToLower(strings.TrimSpace(name)))
	for i := 1; i+1 < len(b); i++ {
		if b[i] == '.' && digit(b[i-1]) && digit(b[i+1]) {
			b[i] = '-'
		}
	}
	return string(b)
}

// candidates are the indexed names that a recorded name can stand for, the
// most literal one first.
func (t *Table) candidates(name string) []string {
	name = strings.ToLower(strings.TrimSpace(name))
	bare, ok := t.withoutResellers(name)
	if !ok {
		return []string{canonical(name)}
	}
	bare = strings.TrimSuffix(t.withoutCloud(bare), "[1m]")
	bare = strings.Replace(bare, "@", "-", 1)
	return []string{canonical(name), canonical(bare), canonical(withoutDate(bare))}
}

// withoutResellers strips "openrouter/anthropic/" and the like. A prefix that
// the table does not know may mean other prices: the name is then not known.
func (t *Table) withoutResellers(name string) (string, bool) {
	for {
		prefix, rest, found := strings.Cut(name, "/")
		if !found {
			return name, true
		}
		if !t.reseller(prefix) {
			return "", false
		}
		name = rest
	}
}

func (t *Table) reseller(name string) bool {
	for _, r := range t.resellers {
		if r == name {
			return true
		}
	}
	return false
}

// withoutCloud strips what a cloud platform puts around a name:
// "us.anthropic.NAME-v1:0". A dot inside the name itself is left alone.
func (t *Table) withoutCloud(name string) string {
	region, rest, found := strings.Cut(name, ".")
	if found && cloudRegion(region) {
		name = rest
	}
	vendor, rest, found := strings.Cut(name, ".")
	if !found || !t.reseller(vendor) {
		return name
	}
	if i := strings.LastIndex(rest, "-v"); i > 0 && revision(rest[i+2:]) {
		rest = rest[:i]
	}
	return rest
}

func cloudRegion(s string) bool {
	switch s {
	case "us", "eu", "apac", "global", "jp", "au", "us-gov":
		return true
	}
	return false
}

// revision reports whether s is "1", "1:0" and the like.
func revision(s string) bool {
	major, minor, _ := strings.Cut(s, ":")
	return digits(major) && (minor == "" || digits(minor))
}

// withoutDate strips "-20251101" or "-2025-11-01" from the end of a name.
func withoutDate(name string) string {
	if n := len(name) - len("-20251101"); n > 0 && name[n] == '-' && digits(name[n+1:]) && name[n+1:n+3] == "20" {
		return name[:n]
	}
	n := len(name) - len("-2025-11-01")
	if n <= 0 || name[n] != '-' || name[n+5] != '-' || name[n+8] != '-' {
		return name
	}
	if digits(name[n+1:n+5]) && digits(name[n+6:n+8]) && digits(name[n+9:]) && name[n+1:n+3] == "20" {
		return name[:n]
	}
	return name
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func digits(s string) bool {
	for i := range len(s) {
		if !digit(s[i]) {
			return false
		}
	}
	return s != ""
}
