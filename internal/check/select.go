package check

import (
	"path"
	"slices"
	"strings"
)

// Select picks the checks that belong to a patch, in the order in which they run.
// None is selected with the reason why.
//
// By default documents alone need none, tests alone need the tests, backends are
// not linted by a smart strategy, and checks of a system run where the patch
// touches a file of it; where it touches none of any, all run.
func (c *Config) Select(all []Command, paths []string) (list []Command, skipped string) {
	kind := KindOf(paths)
	policy := c.Policies[kind]
	switch {
	case len(paths) == 0:
		return nil, "nothing was changed"
	case !on(c.Enabled):
		return nil, "checks are switched off in " + ConfigFile
	case !on(policy.Enabled):
		return nil, because(policy.Reason, "checks of "+string(kind)+" patches are switched off in "+ConfigFile)
	case len(policy.Scripts) > 0:
		return byName(all, policy.Scripts)
	case len(c.Scripts) > 0:
		return byName(all, c.Scripts)
	case len(all) == 0:
		return nil, "the project has no checks that are known"
	case c.Strategy == All:
		return all, ""
	}
	wanted, why := wanted(kind)
	if why != "" {
		return nil, why
	}
	for _, one := range touched(all, paths) {
		if one.System == Own || slices.Contains(wanted, one.Purpose) {
			list = append(list, one)
		}
	}
	if len(list) == 0 {
		return nil, "the project has no checks for a patch of kind " + string(kind)
	}
	return list, ""
}

func because(reason, usual string) string {
	if reason != "" {
		return reason
	}
	return usual
}

// wanted are the purposes that a kind of patch asks for, or why there are none.
func wanted(k Kind) (list []Purpose, why string) {
	switch k {
	case KindDocs:
		return nil, "only documents were changed"
	case KindTests:
		return []Purpose{ForTests}, ""
	case KindFrontend:
		return []Purpose{ForTypes, ForLint, ForTests}, ""
	case KindBackend:
		return []Purpose{ForCheck, ForTypes, ForTests}, ""
	}
	return purposes(), ""
}

// byName are the checks with the names. One that is not there is a check that
// fails: a project that names it relies on it.
func byName(all []Command, names []string) (list []Command, skipped string) {
	for _, name := range names {
		i := slices.IndexFunc(all, func(c Command) bool { return c.Name == name })
		if i < 0 {
			list = append(list, Command{Name: name, System: Own, Purpose: ForCheck, Dir: "."})
			continue
		}
		list = append(list, all[i])
	}
	return list, ""
}

// touched are the checks of systems that a patch has files of.
func touched(all []Command, paths []string) (list []Command) {
	for _, one := range all {
		if one.System == Own || one.System == Make || slices.ContainsFunc(paths, one.covers) {
			list = append(list, one)
		}
	}
	if !slices.ContainsFunc(list, func(c Command) bool { return c.System != Own }) {
		return all
	}
	return list
}

// covers reports whether a path is of the check's system and folder.
func (c *Command) covers(p string) bool {
	if c.Dir != "." && !strings.HasPrefix(p, c.Dir+"/") {
		return false
	}
	low := strings.ToLower(p)
	base := path.Base(low)
	switch c.System {
	case Go:
		return path.Ext(low) == ".go" || slices.Contains([]string{"go.mod", "go.sum", "go.work"}, base)
	case Rust:
		return path.Ext(low) == ".rs" || strings.HasPrefix(base, "cargo.")
	case Python:
		return slices.Contains([]string{".py", ".pyi", ".pyx"}, path.Ext(low)) || isPackage(p) && slices.Contains([]string{"pyproject.toml", "setup.py", "requirements.txt", "uv.lock", "poetry.lock"}, base)
	case Java:
		return slices.Contains([]string{".java", ".kt", ".kts", ".scala", ".groovy", ".gradle"}, path.Ext(low)) || base == "pom.xml"
	case Node:
		return isFrontend(p) || slices.Contains([]string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"}, path.Ext(low)) || slices.Contains([]string{"package.json", "tsconfig.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"}, base)
	}
	return true
}
