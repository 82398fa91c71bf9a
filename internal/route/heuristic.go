package route

import (
	"slices"
	"strings"
	"unicode"
)

// Heuristic plans by words alone, English and Chinese. It is what is left where the
// router cannot be asked, and what decides whether edits are reviewed. The oracle
// and the librarian are never its primary; unlike a router it gives an edit that
// names no field to backend, because rush has no business with files.
func Heuristic(r Request) Plan {
	found := classify(r.Words)
	p := Plan{Source: ByHeuristic, Primary: found.primary(), Reason: "planned by the words of the request"}
	if r.card(p.Primary) == nil {
		p.Primary = firstRole(r, p.Primary)
	}
	p.Workers = []Worker{{Role: p.Primary, Goal: goals(p.Primary), Reason: "it is the role that the words name first"}}
	for _, role := range found.support(p.Primary) {
		p.ensure(Worker{Role: role, Goal: goals(role), Reason: "the words of the request name its field"}, r)
	}
	p.capWorkers(r.Limits.limits().Workers)
	p.RequiresReview = r.Review && found.has(classEdit)
	if p.RequiresReview && p.Primary != Review {
		p.ensure(Worker{Role: Review, Goal: reviewGoal, Reason: "edits are reviewed"}, r)
	}
	p.Notes = nil
	p.assign()
	p.connect(nil)
	return p
}

// firstRole is a role that can be chosen: the wanted one if there are none at all.
func firstRole(r Request, wanted Role) Role {
	for _, c := range r.Roles {
		if c.Role != Router {
			return c.Role
		}
	}
	return wanted
}

// Forced is the plan in which given roles each answer by themselves: the first is
// the primary, nothing is reviewed and nobody waits for anybody.
func Forced(roles []Role, r Request) Plan {
	p := Plan{Source: ByForce, Reason: "the roles were given"}
	for _, role := range roles {
		p.ensure(Worker{Role: role, Goal: "Respond to the request independently, as your role.", Reason: "it was asked for"}, r)
	}
	if len(p.Workers) == 0 {
		return Heuristic(r)
	}
	p.Primary = p.Workers[0].Role
	p.assign()
	return p
}

// A class is a field that words belong to.
type class uint8

const (
	classFrontend class = iota
	classBackend
	classDBA
	classDesigner
	classSecurity
	classQA
	classReview
	classSummary
	classWorkspace
	classEdit
	classCount
)

// classWords are the words of the classes. Latin ones are compared with whole words
// (a last * takes any ending), others with any part of the text.
var classWords = [classCount][]string{
	classFrontend:  {"frontend", "front-end", "ui", "css", "html", "react", "vue", "svelte", "component*", "browser", "dom", "tailwind", "accessibility", "a11y", "button*", "webpage", "jsx", "tsx", "responsive", "前端", "页面", "样式", "组件", "浏览器", "按钮", "界面"},
	classBackend:   {"backend", "back-end", "api", "apis", "endpoint*", "server", "service*", "handler*", "middleware", "grpc", "rest", "graphql", "websocket*", "concurren*", "goroutine*", "microservice*", "后端", "接口", "服务端", "服务器", "并发"},
	classDBA:       {"database*", "db", "sql", "schema*", "migration*", "postgres*", "mysql", "sqlite", "mongodb", "index*", "query plan", "queries", "transaction*", "数据库", "迁移", "索引", "建表", "查询语句", "事务"},
	classDesigner:  {"design", "designs", "ux", "wireframe*", "mockup*", "layout*", "user flow", "typography", "palette", "交互设计", "设计稿", "布局", "用户体验", "视觉"},
	classSecurity:  {"security", "secure", "vulnerab*", "auth", "authn", "authz", "authentication", "authorization", "oauth", "jwt", "xss", "csrf", "injection", "secret*", "encrypt*", "permission*", "安全", "漏洞", "鉴权", "认证", "授权", "注入", "加密", "权限"},
	classQA:        {"qa", "test plan", "test strategy", "coverage", "edge case*", "reproduce", "flaky", "e2e", "acceptance", "测试用例", "覆盖率", "复现", "测试计划", "边界情况"},
	classReview:    {"review", "code review", "audit", "pull request", "评审", "审查", "代码审核"},
	classSummary:   {"summarize", "summarise", "summary", "recap", "tl;dr", "总结", "概括", "摘要", "归纳"},
	classWorkspace: {"git", "commit*", "rebase", "merge", "branch*", "npm", "bun", "pnpm", "yarn", "ci", "cd", "pipeline*", "deploy*", "release*", "docker*", "kubernetes", "shell", "bash", "script*", "build", "test", "tests", "lint", "install", "makefile", "提交", "分支", "部署", "发布", "构建", "脚本", "命令行", "运行测试", "流水线"},
	classEdit:      {"implement*", "build", "create*", "add", "adds", "adding", "fix*", "change*", "modify", "modifies", "refactor*", "edit*", "write", "writes", "delete*", "remove*", "rename*", "update*", "replace*", "实现", "新增", "添加", "创建", "修复", "修改", "改成", "重构", "编辑", "写一个", "编写", "删除", "更新", "替换", "重命名", "优化"},
}

// classes are those that a text's words belong to.
type classes [classCount]bool

func (c *classes) has(one class) bool { return c[one] }

func classify(text string) (found classes) {
	lower := strings.ToLower(text)
	words := strings.FieldsFunc(lower, func(r rune) bool {
		return !(unicode.IsLetter(r) && r < unicode.MaxLatin1) && !unicode.IsDigit(r) && !strings.ContainsRune("-;", r)
	})
	spaced := " " + strings.Join(words, " ") + " "
	for c, list := range classWords {
		found[c] = slices.ContainsFunc(list, func(w string) bool { return hit(lower, spaced, w) })
	}
	return found
}

// hit reports whether a word is in a text: spaced holds its Latin words, each
// between spaces.
func hit(lower, spaced, word string) bool {
	stem, open := strings.CutSuffix(word, "*")
	switch {
	case chinese(word):
		return strings.Contains(lower, word)
	case open:
		return strings.Contains(spaced, " "+stem)
	default:
		return strings.Contains(spaced, " "+word+" ")
	}
}

// domains are the fields whose words outweigh those of the workspace, in the order
// in which they are looked at, with the role of each.
var domains = []struct {
	class class
	role  Role
}{
	{classFrontend, Frontend}, {classBackend, Backend}, {classDBA, DBA}, {classDesigner, Designer},
	{classSecurity, Security}, {classQA, QA}, {classReview, Review}, {classSummary, Summarize},
}

// primary is the role that the first match names.
func (c *classes) primary() Role {
	for _, d := range domains {
		if c.has(d.class) {
			return d.role
		}
	}
	switch {
	case c.has(classWorkspace):
		return DevOps
	case c.has(classEdit):
		return Backend
	default:
		return Rush
	}
}

// support are the roles beside the primary, in the order in which they come.
func (c *classes) support(primary Role) (list []Role) {
	if c.has(classEdit) && !slices.Contains([]Role{Rush, DevOps, Review, Summarize}, primary) {
		list = append(list, Librarian)
	}
	for _, d := range []struct {
		class class
		role  Role
	}{{classDesigner, Designer}, {classBackend, Backend}, {classFrontend, Frontend}, {classDBA, DBA}, {classSecurity, Security}, {classQA, QA}, {classReview, Review}} {
		if c.has(d.class) && d.role != primary && primary != Summarize {
			list = append(list, d.role)
		}
	}
	return list
}

// goals are the titles of the things to do that words alone give to a role.
func goals(role Role) string {
	switch role {
	case Frontend:
		return "Do the work on the user interface"
	case Backend:
		return "Do the work on the code behind the interface"
	case Designer:
		return "Work out the flow, the states and the wording"
	case DBA:
		return "Work out the schema, migrations and queries"
	case DevOps:
		return "Do the work on the repository, the build and the release"
	case Security:
		return "Look for weaknesses in what is asked and what is there"
	case QA:
		return "Work out what has to be tested, and the edge cases"
	case Review:
		return reviewGoal
	case Summarize:
		return "Summarise what is asked for"
	case Oracle:
		return "Decide the hard question and say why"
	case Librarian:
		return "Find the files, symbols and facts that the work needs"
	default:
		return "Answer the request"
	}
}
