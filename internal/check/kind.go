package check

import (
	"path"
	"slices"
	"strings"
)

// A Kind says what a patch is about.
type Kind string

// The kinds, in the order in which they are looked for.
const (
	KindPackage  Kind = "package-change"
	KindCI       Kind = "ci-risk"
	KindDB       Kind = "db-risk"
	KindAuth     Kind = "auth-risk"
	KindDocs     Kind = "docs-only"
	KindTests    Kind = "test-only"
	KindFrontend Kind = "frontend"
	KindBackend  Kind = "backend"
	KindUnknown  Kind = "unknown-code"
)

// KindOf is the kind of a patch with these paths.
func KindOf(paths []string) Kind {
	for _, k := range []struct {
		kind Kind
		any  func(string) bool
	}{{KindPackage, isPackage}, {KindCI, isCI}, {KindDB, isDB}, {KindAuth, isAuth}} {
		if slices.ContainsFunc(paths, k.any) {
			return k.kind
		}
	}
	switch {
	case all(paths, isDocs):
		return KindDocs
	case all(paths, isTest):
		return KindTests
	case slices.ContainsFunc(paths, isFrontend):
		return KindFrontend
	case slices.ContainsFunc(paths, isBackend):
		return KindBackend
	}
	return KindUnknown
}

func all(paths []string, is func(string) bool) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool { return !is(p) })
}

func isPackage(p string) bool {
	return slices.Contains([]string{
		"package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "go.mod", "go.sum", "cargo.toml", "cargo.lock",
		"pyproject.toml", "poetry.lock", "uv.lock", "requirements.txt", "setup.py", "pom.xml", "build.gradle", "build.gradle.kts", "gemfile", "gemfile.lock", "composer.json", "composer.lock",
	}, strings.ToLower(path.Base(p)))
}

func isCI(p string) bool {
	low := strings.ToLower(p)
	return strings.HasPrefix(low, ".github/workflows/") || strings.HasPrefix(low, ".gitlab-ci") || strings.HasPrefix(low, ".circleci/") ||
		slices.Contains([]string{"jenkinsfile", "azure-pipelines.yml", ".travis.yml", "dockerfile", "docker-compose.yml", "compose.yaml"}, path.Base(low))
}

func isDB(p string) bool {
	return strings.HasSuffix(strings.ToLower(p), ".sql") || named(p, "migration", "migrations", "db", "database", "schema", "prisma", "alembic", "flyway", "liquibase")
}

func isAuth(p string) bool {
	return named(p, "auth", "authn", "authz", "oauth", "login", "session", "sessions", "password", "passwords", "permission", "permissions", "security", "crypto", "payment", "payments", "billing", "secrets", "jwt", "acl", "rbac")
}

// named reports whether a folder of a path, or its file without ending and the word
// test, has one of the names.
func named(p string, names ...string) bool {
	parts := strings.Split(strings.ToLower(p), "/")
	last := len(parts) - 1
	file, _, _ := strings.Cut(parts[last], ".")
	parts[last] = strings.TrimSuffix(strings.TrimPrefix(file, "test_"), "_test")
	return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(names, part) })
}

func isDocs(p string) bool {
	low := strings.ToLower(p)
	switch path.Ext(low) {
	case ".md", ".mdx", ".markdown", ".rst", ".adoc", ".txt":
		return path.Base(low) != "cmakelists.txt"
	}
	return strings.HasPrefix(low, "docs/") && !isCode(low) || slices.Contains([]string{"license", "authors", "notice"}, path.Base(low))
}

func isTest(p string) bool {
	low := strings.ToLower(p)
	base := path.Base(low)
	stem := strings.TrimSuffix(base, path.Ext(base))
	if strings.HasSuffix(stem, "_test") || strings.HasPrefix(base, "test_") || strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") || strings.HasSuffix(path.Base(p), "Test.java") {
		return true
	}
	return slices.ContainsFunc(strings.Split(path.Dir(low), "/"), func(d string) bool {
		return slices.Contains([]string{"test", "tests", "testdata", "__tests__", "spec", "e2e"}, d)
	})
}

func isFrontend(p string) bool {
	switch path.Ext(strings.ToLower(p)) {
	case ".tsx", ".jsx", ".vue", ".svelte", ".css", ".scss", ".sass", ".less", ".html", ".astro":
		return true
	}
	return isCode(p) && named(p, "frontend", "ui", "components", "pages", "client", "web")
}

func isBackend(p string) bool {
	switch path.Ext(strings.ToLower(p)) {
	case ".go", ".rs", ".java", ".kt", ".py", ".rb", ".php", ".cs", ".scala", ".ex", ".exs", ".c", ".cc", ".cpp", ".h", ".hpp":
		return true
	}
	return isCode(p) && named(p, "backend", "server", "api", "services", "handlers", "routes", "controllers")
}

func isCode(p string) bool {
	return slices.Contains([]string{".go", ".rs", ".java", ".kt", ".py", ".rb", ".php", ".cs", ".scala", ".ex", ".exs", ".c", ".cc", ".cpp", ".h", ".hpp", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".vue", ".svelte", ".sh", ".lua", ".swift"}, path.Ext(strings.ToLower(p)))
}

// A Tier says how risky a patch is.
type Tier string

// The tiers.
const (
	Low      Tier = "low"
	Medium   Tier = "medium"
	High     Tier = "high"
	Critical Tier = "critical"
)

// TierOf is the tier of a patch. reviewed says that a rule of permission demands a
// review of it.
func TierOf(paths []string, reviewed bool) Tier {
	if slices.ContainsFunc(paths, isAuth) && slices.ContainsFunc(paths, isCI) {
		return Critical
	}
	tier := Medium
	switch KindOf(paths) {
	case KindDocs, KindTests:
		tier = Low
	case KindAuth, KindDB, KindCI:
		tier = High
	case KindPackage:
		if slices.ContainsFunc(paths, func(p string) bool { return isAuth(p) || isDB(p) || isCI(p) }) {
			tier = High
		}
	}
	if reviewed {
		tier = High
	}
	return tier
}

// NeedsReview reports whether a patch of a kind has to be reviewed whatever else is
// said.
func NeedsReview(paths []string) bool {
	switch TierOf(paths, false) {
	case High, Critical:
		return true
	}
	return slices.ContainsFunc(paths, isPackage)
}
