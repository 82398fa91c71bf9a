package arch

import (
	"fmt"
	"slices"
	"strings"
)

// floors lists the packages from the ground up, as section 3 of the design has
// them. A package imports packages of lower floors, and on its own floor only
// those before it. A name that ends in /... stands for the packages below it;
// they do not import each other. A new package gets its place here first.
func floors() []floor {
	return []floor{
		{0, "internal/quire"}, {0, "internal/x/..."},
		{1, "internal/config"}, {1, "internal/secret"}, {1, "internal/token"}, {1, "internal/price"}, {1, "internal/shingle"}, {1, "internal/term"}, {1, "internal/telemetry"}, {1, "internal/wire/openai"}, {1, "internal/wire/..."},
		{2, "internal/page"}, {2, "internal/rendition"}, {2, "internal/ledger"}, {2, "internal/task"},
		{2, "internal/schedule"}, {2, "internal/assemble"}, {2, "internal/index"}, {2, "internal/retrieve"}, {2, "internal/carrier"}, {2, "internal/journal"},
		{2, "internal/store/storetest"}, {2, "internal/store/mem"}, {2, "internal/store/sqlite"},
		{3, "internal/vector"}, {3, "internal/script"}, {3, "internal/model"}, {3, "internal/model/..."}, {3, "internal/sim"}, {3, "internal/permit"}, {3, "internal/undo"}, {3, "internal/tool"}, {3, "internal/tool/..."},
		{3, "internal/route"}, {3, "internal/packet"}, {3, "internal/role"}, {3, "internal/check"}, {3, "internal/review"}, {3, "internal/norms"}, {3, "internal/skill"}, {3, "internal/hook"}, {3, "internal/worktree"}, {3, "internal/warning"},
		{4, "internal/trace"}, {4, "internal/ingest"}, {4, "internal/run"}, {4, "internal/recording/recordingtest"}, {4, "internal/recording"}, {4, "internal/replay"}, {4, "internal/eval"}, {4, "internal/quiz"}, {4, "internal/probe"}, {4, "internal/taskset"}, {4, "internal/history"}, {4, "internal/audit"}, {4, "internal/report"}, {4, "internal/brain"}, {4, "internal/usage"},
		{5, "internal/curation"}, {5, "internal/gateway"}, {5, "internal/mcp"},
		{6, "cmd/quire"},
		{7, "internal/arch"}, {7, "internal/mutate"}, {7, "internal/trial"}, {7, "internal/gatewaytest"},
	}
}

type floor struct {
	number int
	name   string
}

func (f floor) holds(dir string) bool {
	if under, ok := strings.CutSuffix(f.name, "..."); ok {
		return strings.HasPrefix(dir, under)
	}
	return dir == f.name
}

func place(dir string) int {
	return slices.IndexFunc(floors(), func(f floor) bool { return f.holds(dir) })
}

// checkFloors holds the directions. Because each package imports downwards only,
// what it reaches through others is below it too.
func checkFloors(t *tree) []finding {
	var found []finding
	for _, p := range t.packages {
		if place(p.dir) < 0 {
			found = append(found, finding{p.dir, "the package has no floor: give it its place in floors() of internal/arch, as the design has it"})
			continue
		}
		for _, i := range imports(p.code) {
			if to := i.local(); to != "" {
				found = append(found, checkDirection(t, p.dir, to, i)...)
			}
		}
	}
	return found
}

func checkDirection(t *tree, from, to string, i imported) []finding {
	a, b := place(from), place(to)
	if b >= 0 && b < a {
		return nil
	}
	why := "it has no floor"
	if b >= 0 {
		up, down := floors()[a], floors()[b]
		why = fmt.Sprintf("floor %d stands on floor %d", up.number, down.number)
		if up.number == down.number {
			why = "on one floor a package imports only what stands before it"
		}
	}
	return []finding{{t.at(i.spec), fmt.Sprintf("%s must not import %s: %s; knowledge goes upwards only, so that a lower package can be read, tested and replayed alone", from, to, why)}}
}

// owners lists the modules from outside with the one package that imports each.
// A dependency that is wanted elsewhere is wanted through its owner.
func owners() []owner {
	return []owner{
		{"github.com/spf13/cobra", "cmd/quire"},
		{"github.com/spf13/pflag", "cmd/quire"},
		{"github.com/tiktoken-go/tokenizer", "internal/token"},
		{"github.com/klauspost/compress", "internal/x/zstd"},
		{"modernc.org/sqlite", "internal/x/sqlite"},
		{"golang.org/x/sys", "internal/x/flock"},
		{"github.com/cenkalti/backoff/v5", "internal/model/retry"},
		{"github.com/zalando/go-keyring", "internal/x/keyring"},
		{"go.uber.org/goleak", "internal/model/modeltest"},
		{"golang.org/x/net/http/httpproxy", "internal/model"},
		{"golang.org/x/text", "internal/term"},
		{"mvdan.cc/sh/v3", "internal/permit"},
		{"github.com/landlock-lsm/go-landlock", "internal/x/sandbox"},
		{"github.com/google/jsonschema-go", "internal/tool"},
		{"github.com/modelcontextprotocol/go-sdk", "internal/mcp"},
	}
}

type owner struct{ module, dir string }

// testModules lists what tests of any package may import: tools, and the clients
// of vendors as peers of what we speak.
func testModules() []string {
	return []string{
		"pgregory.net/rapid", "github.com/rogpeppe/go-internal", "go.uber.org/goleak",
		"github.com/anthropics/anthropic-sdk-go", "google.golang.org/genai", "github.com/openai/openai-go",
	}
}

// checkOwners holds that every dependency has exactly one importing package.
func checkOwners(t *tree) []finding {
	var found []finding
	for _, p := range t.packages {
		for _, i := range imports(p.code) {
			found = append(found, checkOwner(t, p.dir, i)...)
		}
		for _, i := range imports(p.test) {
			if !within(i.path, testModules()...) {
				found = append(found, checkOwner(t, p.dir, i)...)
			}
		}
	}
	return found
}

func checkOwner(t *tree, dir string, i imported) []finding {
	if !i.foreign() {
		return nil
	}
	at := slices.IndexFunc(owners(), func(o owner) bool { return within(i.path, o.module) })
	if at < 0 {
		return []finding{{t.at(i.spec), i.path + " is a new dependency: name its one importer in owners() of internal/arch, with the reason in the commit"}}
	}
	if own := owners()[at].dir; own != dir {
		return []finding{{t.at(i.spec), fmt.Sprintf("%s is imported by %s only, so that it can be replaced in one place; use that package", i.path, own)}}
	}
	return nil
}

// within reports whether a path is one of the given ones or below it.
func within(path string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return path == root || strings.HasPrefix(path, root+"/")
	})
}
