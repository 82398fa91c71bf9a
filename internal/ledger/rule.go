package ledger

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Constraints returns the sentences of a message that state a rule, in their
// order and as they stand, each once. A sentence states a rule if it has a rule
// word (never, must, don't, only, 不要, 必须, 别 …) outside of code and quotations
// that is used as one: no question, no account of how something is, no guess.
//
// Where it is unclear whether something is a rule, it is taken for one: a rule
// that is lost costs more than a sentence that is kept.
func Constraints(text string) []string {
	if strings.ContainsRune(text, filler) {
		text = strings.ReplaceAll(text, string(rune(filler)), "")
	}
	text = bothEnds(text)
	hidden := hide(text)
	var found []string
	seen := map[string]bool{}
	for _, s := range sentences(hidden) {
		if !states(hidden[s.from:s.to]) {
			continue
		}
		if sentence := trim(text, s); sentence != "" && !seen[sentence] {
			seen[sentence] = true
			found = append(found, sentence)
		}
	}
	return found
}

// mostSearched is how many bytes at each end of a message are looked at for rules:
// what is longer holds something that was pasted.
const mostSearched = 16 << 10

// bothEnds is the beginning and the end of a message, in whole lines.
func bothEnds(text string) string {
	if len(text) <= 2*mostSearched {
		return text
	}
	head, tail := text[:mostSearched], text[len(text)-mostSearched:]
	head = head[:strings.LastIndexByte(head, '\n')+1]
	return head + "\n" + tail[strings.IndexByte(tail, '\n')+1:]
}

// states reports whether a sentence, hidden, states a rule.
func states(sentence string) bool {
	sentence = strings.ReplaceAll(sentence, "’", "'")
	if !mayState(sentence) {
		return false
	}
	if heading.MatchString(sentence) {
		return true
	}
	if question.MatchString(sentence) && !request.MatchString(sentence) {
		return false
	}
	return slices.ContainsFunc(rules(), func(r rule) bool { return r.holds(sentence) })
}

// Rules that a heading announces, questions, and questions that are requests.
var (
	heading  = regexp.MustCompile(`(?i)^[ \t#*]*(?:(?:hard |ground |important )?(?:rules?|constraints?|requirements?|restrictions?|guardrails?)|(?:硬性)?(?:要求|规则|约束|限制|注意事项?|原则))[ \t*]*[:：][ \t*]*\n`)
	question = regexp.MustCompile(`(?i)[?？][\s\x01)）]*$|[吗么][。！\s]*$|^[ \t]*(?:why|how|what|where|when|who|which|is it|are there|do you|does it|should i)\b[^.,;:]*$|^(?:为什么|为何|怎么|难道|是不是|该不该|要不要|有没有)`)
	request  = regexp.MustCompile(`(?i)\b(?:can|could|will|would) (?:you|we)\b(?: please| also| just)* (?:make sure|ensure|not|never|always|avoid|keep|stop|only|leave|refrain)\b|(?:能不能|可不可以|能否|可以|能)(?:请|麻烦)?(?:你)?(?:以后)?(?:别再|别|不要|只用|始终|一律)`)
)

// mayState reports whether a sentence has a part of a rule word in it: most have
// none, and looking for them all is much cheaper than the expressions.
func mayState(sentence string) bool {
	lower := strings.ToLower(sentence)
	return slices.ContainsFunc(stems, func(stem string) bool { return strings.Contains(lower, stem) })
}

// stems are such that every rule word holds one of them.
var stems = makeStems()

func makeStems() []string {
	return strings.Split("never,always,not,n't,dont,don't,must,has,have,need,only,should,can,may,nothing,nobody,sure,ensure,avoid,"+
		"refrain,away,steer,hands,without,circumstances,times,from,going,matter,whatever,reason,forbid,prohibit,allow,"+
		"permit,off-limits,limits,mandatory,negotiable,required,stick,limit,restrict,adhere,comply,leave,most,each,"+
		"every,until,unless,before,keep,prefer,stop,rule,constraint,requirement,restriction,guardrail,不,别,必,一律,禁,勿,准,许,"+
		"绝,决,永,千万,无论,任何,一定,杜绝,始终,统一,只,仅,确保,保证,避免,除非,为准,尽量,每次,都要,也要,限,保持,以后,从现在,要求,规则,约束,注意,原则,no ,see to", ",")
}

// A rule is a way of stating a rule: words that do, and what stands right
// before or behind them where they do not.
type rule struct {
	word, notAfter, notBefore *regexp.Regexp
	notTold                   bool
}

// holds reports whether the words are used to state a rule at least once.
func (r rule) holds(sentence string) bool {
	for _, at := range r.word.FindAllStringIndex(sentence, -1) {
		before, after := sentence[:at[0]], sentence[at[1]:]
		if r.notAfter.MatchString(before) || r.notBefore.MatchString(after) || r.notTold && told(before, after) {
			continue
		}
		return true
	}
	return false
}

func english(word, notAfter, notBefore string) rule {
	return rule{
		word:      regexp.MustCompile(`(?i)\b(?:` + word + `)\b`),
		notAfter:  excluded(notAfter, `(?i)(?:`, `)[ \t]*$`),
		notBefore: excluded(notBefore, `(?i)^[ \t]*(?:`, `)`),
	}
}

// unlessTold is the rule without accounts of how something is.
func (r rule) unlessTold() rule {
	r.notTold = true
	return r
}

func chinese(word, notAfter, notBefore string) rule {
	return rule{word: regexp.MustCompile(word), notAfter: excluded(notAfter, `(?:`, `)$`), notBefore: excluded(notBefore, `^(?:`, `)`)}
}

// excluded is an expression, or one that matches nothing.
func excluded(expression, before, after string) *regexp.Regexp {
	if expression == "" {
		return regexp.MustCompile(`[^\s\S]`)
	}
	return regexp.MustCompile(before + expression + after)
}

// Verbs that tell what something does or did, behind a word that may be their
// subject, are no rule: "the server always crashes", but "use tabs, never spaces".
var (
	subject     = regexp.MustCompile(`(?i)[a-z0-9)\x01][ \t]*$`)
	noSubject   = regexp.MustCompile(`(?i)\b(?:is|are|be|must|should|shall|can|may|will|and|but|or|please|to|you|we)[ \t]*$`)
	thirdPerson = regexp.MustCompile(`(?i)^[ \t]*(?:[a-z]+(?:[^su\W]s|ed)|had|was|were|been|got|saw|did|went|came|told|took|made|knew|thought|found|ran|broke|lost|kept)\b`)
)

func told(before, after string) bool {
	return thirdPerson.MatchString(after) && subject.MatchString(before) && !noSubject.MatchString(before)
}

// rules are the ways of stating a rule. Their order does not matter. They are
// compiled when a first message is looked at.
var rules = sync.OnceValue(makeRules)

func makeRules() []rule {
	return []rule{
		english(`never`, `\b(?:i|it|he|she|they|this|that)`, ``).unlessTold(),
		english(`always`, `\b(?:i|it|he|she|they|this|that|not)`, `(?:be|the case)\b`).unlessTold(),
		english(`(?:do not|don't|dont|do n't)`, `\b(?:i|we|they|users?|customers?|people|who|which|that|if you|if we|unless you|when you|but you|clients?|tests?|\w+(?:ers|ors))`,
			`(?:worry|mind|bother|forget|hesitate|you|have to|need|see|exist|care|know|think|be afraid)\b`),
		english(`don't forget|do not forget`, ``, ``),
		english(`must|mustn't|has to|have to|ha(?:s|ve) got to|needs? to be|need to stay`, `\b(?:i|do|does|did|don't|doesn't|it seems [\w ]*|what|why|they)`,
			`(?:(?:not )?have (?:been|had|got|gone|done|\w+ed)\b|'ve\b|be (?:why|because|due|the reason|some|a |an |that|caching|something|wrong|right|kidding)|install i\b)`),
		english(`only`, `\w-|\b(?:the|not|is|are|was|were|i|it|he|she|they|been|there's|an|if|has|have|had|its|my|our)`,
			`(?:on|if|when|thing|one|works?|fails?|happens?|problem|question)\b`).unlessTold(),
		english(`should(?:n't| not| never| only| always)`, `\b(?:why|it)`, `have\b`),
		english(`(?:you|we|nobody|no one|it|they|tests?|code) (?:can't|cannot|can not|may not|may only|can only|may never)|nothing (?:may|must|should|can)`, ``, `(?:see|find|remember|reproduce|figure|tell|open|be sure)\b`),
		english(`make sure|be sure to|ensure(?: that)?|see to it`, `\b(?:to|how do i|i|would|will|it)`, ``),
		english(`avoid|refrain from|stay away from|keep away from|steer clear of|hands off`, `\b(?:to|the|i|we|they|an|has the|list of)`, ``),
		english(`no (?:new|more|extra|other|additional|external|third[- ]party|further|network|breaking|global|direct|magic|hard-?coded|unrelated|exceptions?|emojis?|comments?|mocks?|dependenc\w+|changes?|network access)`,
			`\b(?:there (?:is|are|was|were)|has|have|had|see|got|with)`, ``),
		english(`without (?:\w+ly )?(?:\w+ing|my|asking|any)`, `\b(?:is|are|was|were|works?|runs?|reads?|fails?|compiles?|crash(?:es)?|no (?:real )?way|returned|happens|when)\b[^,;:.]*`, ``),
		english(`under (?:no|any) circumstances?|at all times|from now on|going forward|no matter what|whatever you do|for any reason`, ``, ``),
		english(`forbidden|prohibited|not (?:be )?(?:allowed|permitted)|disallowed|off[- ]limits|mandatory|non-negotiable|(?:is|are) (?:always )?required`, `\b(?:why|was|were|error:?|got)`, ``),
		english(`stick (?:to|with)|limit (?:yourself|the changes?) to|restrict (?:yourself|the changes?) to|adhere to|comply with`, ``, ``),
		english(`leave [^.,;]{1,60}? (?:alone|untouched|unchanged|intact|as (?:it|they) (?:is|are)|as[- ]is)`, ``, ``),
		english(`no more than|at most|no longer than|no larger than`, `\b(?:has|have|had|was|were|is)`, ``),
		english(`(?:before|after|for|on|in) (?:each|every) (?:change|commit|edit|push|merge|release|step|time|file|run|pr|pull request)`, `\b(?:happens|fails|crashes|breaks|runs)`, ``),
		english(`until i|unless i|before i|without my`, ``, `(?:was|had|did|saw|found|noticed|restart)`),
		opening(`keep [^.?!]*\b(?:unchanged|untouched|intact|under|below|out of|in sync|stable|compatible|minimal|small|short|simple|as (?:it|they)|working|the public|to (?:a|one|the))`),
		english(`(?:let's|please|let us|kindly|rather) not`, ``, `(?:bother|worry)`),
		opening(`prefer `), opening(`stop (?:using|adding|writing|doing|making|creating|changing|touching|with)`), opening(`no \w+ing\b`), opening(`not? (?:in|on|to|use|add|change|touch)\b`),
		chinese(`不要`, `要`, `紧`),
		chinese(`必须`, `(?:为什么|为何|难道|是不是|你觉得|是否)[^，。,]*`, `品|的吗|吗`),
		chinese(`别`, `[特区级类识分辨性个鉴差告判派另有甄送永拜离惜作饯诀久阔]`, `[的人名墅扭处样字国致称离提项针具管论家]|有用心`),
		chinese(`一律|禁止|严禁|务必|切勿|请勿|勿(?:动|改|删|用)|不准|不许|不允许|绝不|决不|永远不|永不|绝对不|千万|无论如何|任何时候都|任何情况下|一定要|必需(?:先|要)|杜绝|始终(?:用|使用|保持|要)|统一(?:用|使用|采用|成|为)`,
			`(?:把[^，。,]*|该不该|已经?|被)`, `了|符号|[^，。,]{0,4}(?:按钮|功能|列表)`),
		chinese(`不得`, `[舍恨巴怪值记认觉懂由]`, `不|了`),
		chinese(`不可`, ``, `思议|避免|否认|能|靠|用|见|知`),
		chinese(`不应该?|不该`, ``, `吗`),
		chinese(`不能`, `(?:为什么|怎么|什么时候|登录|页面|用户|程序|服务|电脑|系统|问题|部署|为何|都|能|我也|我|也)`,
			`(?:复现|登录|用了|打开|访问|启动|正常|确定|工作|运行|显示|加载|连接|编译|回滚，|理解|退出|识别|解析)`),
		chinese(`只(?:能|用|许|允许|准|改|可|读|写|修|在|要改|做|支持|保留|接受)|仅(?:限|允许|能|用|可|支持|供)`, `(?:我|是不是|它|他|她|为什么)`, `(?:了|有)`),
		chinese(`不(?:用|使用|引入|依赖|改动|修改|增加|新增|提交|写)(?:任何|第三方|额外|新的?|缩写|全局|外部)`, ``, ``),
		chinese(`确保|保证|避免|除非|以[^，。,]{1,12}为准|尽量|每次[^。]{0,12}(?:都要|都|先|必)|[都也]要(?:用|先|跑|写|保)|限定?在|仅限于`, `(?:不可|如何|怎么|无法|不能|没法|难以)`, ``),
		chinese(`保持[^，。,]{0,12}(?:不变|一致|兼容)|不变|不动`, `(?:如果|为什么)[^，。,]*`, ``),
		chinese(`以后(?:都|请|就|一律|不)|从现在(?:起|开始)`, ``, ``),
	}
}

// opening is a way of stating a rule that counts only where a clause begins.
func opening(word string) rule {
	r := english(word, ``, ``)
	r.word = regexp.MustCompile(`(?i)(?:^|[.,;:!(\n]|\b(?:and|but|please|so|then|also|just|to))[ \t*-]*(?:` + word + `)`)
	return r
}
