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
	if strings.Contains(sentence, "\n") && heading.MatchString(sentence) {
		return true
	}
	lower := strings.ToLower(sentence)
	if !slices.ContainsFunc(rules(), func(r rule) bool { return holdsAny(lower, r.needles) && r.holds(sentence) }) {
		return false
	}
	return !question.MatchString(sentence) || request.MatchString(sentence)
}

// Rules that a heading announces, questions, and questions that are requests.
var (
	heading  = regexp.MustCompile(`(?i)^[ \t#*]*(?:(?:hard |ground |important )?(?:rules?|constraints?|requirements?|restrictions?|guardrails?)|(?:硬性)?(?:要求|规则|约束|限制|注意事项?|原则))[ \t*]*[:：][ \t*]*\n`)
	question = regexp.MustCompile(`(?i)[?？][\s\x01)）]*$|[吗么][。！\s]*$|^[ \t]*(?:why|how|what|where|when|who|which|is it|are there|do you|does it|should i)\b[^.,;:]*$|^(?:为什么|为何|怎么|难道|是不是|该不该|要不要|有没有)`)
	request  = regexp.MustCompile(`(?i)\b(?:can|could|will|would) (?:you|we)\b(?: please| also| just)* (?:make sure|ensure|not|never|always|avoid|keep|stop|only|leave|refrain)\b|(?:能不能|可不可以|能否|可以|能)(?:请|麻烦)?(?:你)?(?:以后)?(?:别再|别|不要|只用|始终|一律)`)
)

// A rule is a way of stating a rule: words that do, and what stands right
// before or behind them where they do not.
type rule struct {
	word, notAfter, notBefore *regexp.Regexp
	needles                   []string // of which a sentence with the words has one
	notTold                   bool
}

// worded is a rule by the expression of its words and those of what stands before
// and behind them.
func worded(word string, notAfter, notBefore *regexp.Regexp) rule {
	return rule{word: regexp.MustCompile(word), notAfter: notAfter, notBefore: notBefore, needles: needles(word)}
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
	return worded(`(?i)\b(?:`+word+`)\b`, excluded(notAfter, `(?i)(?:`, `)[ \t]*$`), excluded(notBefore, `(?i)^[ \t]*(?:`, `)`))
}

// unlessTold is the rule without accounts of how something is.
func (r rule) unlessTold() rule {
	r.notTold = true
	return r
}

func chinese(word, notAfter, notBefore string) rule {
	return worded(word, excluded(notAfter, `(?:`, `)$`), excluded(notBefore, `^(?:`, `)`))
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

func makeRules() []rule { return append(englishRules(), chineseRules()...) }

func englishRules() []rule {
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
		english(`(?:you|we|nobody|no one|it|they|tests?|code) (?:can't|cannot|can not|may not|may only|can only|may never)|(?:nothing|nobody|no one|none of [\w ]{1,30}) (?:[\w ]{1,30} )?(?:may|must|should|can|gets to|is to)`, ``, `(?:see|find|remember|reproduce|figure|tell|open|explain|be sure)\b`),
		english(`make sure|be sure to|ensure(?: that)?|see to it`, `\b(?:to|how do i|i|would|will|it)`, ``),
		english(`avoid|refrain from|stay away from|keep away from|steer clear of|hands off`, `\b(?:to|the|i|we|they|an|has the|list of)`, ``),
		english(`no (?:new|more|extra|other|additional|external|third[- ]party|further|network|breaking|global|direct|magic|hard-?coded|unrelated|exceptions?|emojis?|comments?|mocks?|dependenc\w+|changes?|network access)`,
			`\b(?:there (?:is|are|was|were)|has|have|had|see|got|with)`, ``),
		english(`without (?:\w+ly )?(?:\w+ing|my|asking|any)`, `\b(?:is|are|was|were|works?|runs?|reads?|fails?|compiles?|crash(?:es)?|no (?:real )?way|returned|happens|when)\b[^,;:.]*`, ``),
		english(`under (?:no|any) (?:circumstances?|conditions?)|in no case|on no account|at all times|from now on|going forward|no matter (?:what|how|who|which|when|where)|whatever you do|for any reason`, ``, ``),
		english(`forbidden|prohibited|not (?:be )?(?:allowed|permitted)|disallowed|off[- ]limits|mandatory|non-negotiable|(?:is|are) (?:always )?required`, `\b(?:why|was|were|error:?|got)`, ``),
		english(`stick (?:to|with)|limit (?:yourself|the changes?) to|restrict (?:yourself|the changes?) to|adhere to|comply with`, ``, ``),
		english(`leave [^.,;]{1,60}? (?:alone|untouched|unchanged|intact|as (?:it|they) (?:is|are)|as[- ]is)`, ``, ``),
		english(`no more than|at most|no longer than|no larger than`, `\b(?:has|have|had|was|were|is)`, ``),
		english(`(?:before|after|for|on|in|per|with) (?:each|every) (?:change|commit|edit|push|merge|release|step|time|file|run|pr|pull request)`, `\b(?:happens|fails|crashes|breaks|runs)`, ``),
		english(`until i|unless i|before i|without my`, ``, `(?:was|had|did|saw|found|noticed|restart)`),
		opening(`keep [^.?!]*\b(?:unchanged|untouched|intact|under|below|out of|in sync|stable|compatible|minimal|small|short|simple|as (?:it|they)|working|the public|to (?:a|one|the))`),
		english(`(?:let's|please|let us|kindly|rather) not|(?:i'd|i would) (?:rather|prefer|like) (?:it if )?(?:you|we|that|to keep)|rather you`, ``, `(?:bother|worry)`),
		english(`don't you dare|do not ever`, ``, ``),
		english(`(?:may|shall) not|shall`, `\b(?:why|i|he|she)`, `(?:be|work|have|need|know|matter|exist|help|happen|find|see|want|even|always|we|i)\b`),
		english(`(?:cannot|can't|can not) (?:change|break|grow|exceed|depend|rely|use|contain|leak|block|be (?:changed|broken|removed|renamed|touched|skipped|dropped|exceeded))`, `\b(?:i|he|she|users?|why)`, ``),
		english(`(?:is|are) not to|(?:is|are) to (?:be|stay|remain|have|use|go|live|match|follow)|(?:is|are) (?:not )?(?:supposed|allowed|meant) to (?:ever|only|never)`, `\b(?:what|why|how|this|that|it|goal|idea|plan|problem)`, ``),
		english(`(?:nobody|no one|none)[^.,;]{1,40} (?:is|are) (?:supposed|allowed|meant|expected) to`, ``, ``),
		english(`(?:i|we) (?:want|expect|require|insist|demand)[^.;]* (?:every|each|all|any|no|only|nothing|never|stays?|remains?|to (?:stay|remain|be|keep|have))`, `\b(?:do|if|what|as|like)`, ``),
		english(`(?:it is|it's) (?:very |really )?(?:important|essential|crucial|critical|vital|imperative|mandatory) (?:that|to)`, ``, ``),
		english(`as a rule|by convention|our (?:rule|policy|convention|house style|style guide|standard)s?`, ``, ``),
		english(`remember (?:that|to)|keep in mind|bear in mind|mind that`, `\b(?:i|we|can't|don't|he|she|they|you)`, ``),
		english(`frozen (?:until|for|as|at|since)|set in stone|(?:stays?|remains?|kept|left) (?:as (?:they|it) (?:are|is)|the same|put|in (?:english|place|sync|order)|frozen|unchanged|untouched|as[- ]is|as it is|compatible|stable|intact|alone|private|internal|offline|optional|read-only)`, ``, ``),
		english(`(?:agreed|decided|promised) (?:not to|to not|to (?:never|always|only|keep|use|stick|leave))`, ``, ``),
		english(`forbids?|prohibits?|disallows?|bans?|banned|taboo|no-go|deal-?breaker|must-have`, `\b(?:got|get|getting|was|were|been|being)`, ``),
		english(`(?:hard|strict|firm|absolute|key|non-functional) (?:requirement|constraint|limit|rule)s?|a must|one rule|house rules?|ground rules?|red lines?`, ``, `have\b`),
		english(`without exceptions?|no exceptions?|no excuses|across the board`, ``, ``),
		english(`(?:check|confirm|clear it|talk|speak) with me|ask me (?:first|before|if|when|about)|run (?:it|that|this|them) (?:by|past) me|consult me|wait for my|my (?:approval|sign-?off|consent|permission|okay|ok)`, ``, ``),
		english(`(?:each|every|any) [\w' -]{1,40}? (?:needs?|requires?|gets?|goes|comes with|ends with|starts with|carries|belongs)`, ``, `(?:been|failed|about|around|over|\d|a (?:few|second|minute|lot|while)|less|more|up to|slower|stuck|lost|killed|called)`),
		english(`everything [\w' -]{0,40}?(?:goes|needs|belongs|lives|has to)`, ``, `(?:wrong|well|fine|down|slow)\b`),
		opening(`treat [^.?!]*\bas\b`), opening(`use [^.?!]*\b(?:instead of|rather than|everywhere|throughout|not)\b`), opening(`hold (?:to|on to|off)\b`),
		opening(`(?:write|store|put|name|log|format|return|report|call|document|sort|spell|phrase) (?:all|every|each|everything|any)\b`),
		english(`must be an? [^.]*\b(?:for|in|with|per) (?:each|every|all)`, ``, ``),
		english(`(?:we|i) (?:do not|don't) (?:use|allow|accept|want|support|write|ship|commit|add|merge|depend|touch|break|mix|rely|hard-?code|store|log)`, `\b(?:why|if|that|because)`, ``),
		english(`(?:if|when|whenever) you (?:add|change|touch|edit|create|rename|remove|delete|write|use|need|find|introduce|modify|move|must|have to|are (?:unsure|not sure|in doubt|done))[^.?!]*,[^.?!]*\w|(?:before|after|once|as soon as|whatever|wherever) you \w[^.?!]*,[^.?!]*\w|when in doubt|if (?:something|anything) is (?:unclear|unsure)`, ``, ``),
		english(`try not to|try to (?:keep|avoid|stay|use|stick)|careful (?:not to|with)|take care (?:not )?to|watch out`, `\b(?:i|we|he|she|they|to)`, ``),
		english(`leave (?:it|them|that|this|those|these) (?:be|alone|out)`, ``, ``),
		english(`not acceptable|unacceptable|out of the question|not an option|not welcome|not wanted|undesirable|nowhere else|nothing else|no other`, `\b(?:there is|there's|found|has|had|see)`, ``),
		english(`at no (?:point|time)|never ever`, ``, ``),
		english(`(?:is|are) (?:always )?(?:written|named|spelled|formatted|sorted|phrased|documented|reviewed|tagged|versioned) (?:in|as|by|with|under|before|after|per|according)`, `\b(?:this|it|that|file)`, `accident`),
		english(`belongs? (?:in|into|to|under)|do(?:es)? not belong|doesn't belong|don't belong`, ``, `(?:me|him|her|them|us)\b`),
		imperative(`use`), imperative(`only`), imperative(`keep`), imperative(`stay`), imperative(`(?:make|take|add|leave|write|have) no`),
		imperative(`(?:write|put|phrase|name|store|log|return|report) [^.?!]*\b(?:in (?:english|past|present|lower|upper|the|a|utc)|next to|beside|under)`),
		english(`comes? first|(?:first|top|highest) priority|takes? precedence|matters? most|part of the (?:contract|public)`, ``, ``),
		english(`we (?:pin|require|follow|enforce|ban|target|insist|version|freeze)`, `\b(?:if|can|should|did|do|could|that)`, ``),
		opening(`prefer `), opening(`stop (?:using|adding|writing|doing|making|creating|changing|touching|with)`), opening(`no \w+ing\b`), opening(`not? (?:in|on|to|use|add|change|touch)\b`),
	}
}

func chineseRules() []rule {
	return []rule{
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
		chinese(`避免|除非|以[^，。,]{1,12}为准|尽量|每次[^。]{0,12}(?:都要|都|先|必)|[都也]要(?:用|先|跑|写|保)|限定?在|仅限于`, `(?:不可|如何|怎么|无法|不能|没法|难以)`, ``),
		chinese(`确保|保证`, `(?:不可|如何|怎么|无法|不能|没法|难以|他|她|他们|谁)`, `过|书|金|人`),
		chinese(`保持[^，。,]{0,12}(?:不变|一致|兼容|一样|原样|稳定|现状|统一|不动|同步|整洁|简洁|精简|干净|向后)|保留原样|原样保留|原封不动|维持(?:原样|现状)|不变|不动`, `(?:如果|为什么)[^，。,]*`, ``),
		chinese(`谁[都也](?:不|别|得)|谁[^，,。]{1,4}谁|[不没](?:有)?例外|无一例外|毫无例外`, ``, ``),
		chinese(`全部(?:用|使用|采用|走|按|放|写|存|以|加|改成|改用)|(?:全都|统统|通通|一概)(?:用|使用|采用|走|按|放|写|存|以|加|改)|都(?:用|使用|采用|走|按|放|写|存|以)`, `(?:大家|他们|我们|她们|别人|人|用户|客户|已经|以前|现在|了)`, `户|例|了|过|完|途|处|得上|不了`),
		chinese(`(?:所有|全部|一切|凡是?|每一?[个条份次项处种]|任何)[^。！？!?]{1,30}?(?:都要|都得|都须|都应|须|均|一概|以[^，,。]{1,8}为|以[^，,。]{1,8}(?:存|写|记|表|计)|按照?[^，,。]{1,10}(?:存|写|命名|排|处理|来)|不超过|不得|不能|不可|不许)`, ``, `(?:用|打开|登录|访问|加载|复现)`),
		chinese(`都得(?:先|写|加|走|过|用|带|有|把|由|让|按|经|跑|改|留|放|是|通过)|(?:就|也|还是?|只|总|先)得(?:先|写|加|走|过|用|带|有|把|由|让|按|经|跑|改|留|放|是|通过)`, ``, `了`),
		chinese(`能(?:用|不|省|复用|少)[^，,。]{0,12}(?:就|则)(?:不|别|用|省|复用|少)|越[^，,。]{1,4}越好|宁可|宁愿|宁缺`, ``, ``),
		chinese(`由我(?:来)?(?:定|决定|负责|改|做|处理)|你不用管|不用你|我说了算`, ``, ``),
		chinese(`不(?:要)?(?:超过|多于|大于|低于|少于|小于|高于|超出)|(?:最多|最少|至多|至少|最低|最高)(?:只|不|要|得|支持|保留|兼容|为|能|可以)|最(?:长|短|大|小|久|晚|早|多|少|高|低)(?:是|为)?[\d一二三四五六七八九十百千两]|(?:控制|限制|压|卡)在|以内|之内`, `(?:已经|经|花了|一般|平时|通常)`, ``),
		chinese(`用[^，,。]{1,12}[，,、 ]?(?:而)?(?:不用|不要用|别用|不是)`, `(?:不|没|在|有)`, `[了说管谢客担着急户]`),
		chinese(`请(?:都|始终|一直|统一|全程)?(?:用|使用|采用|遵守|遵循|按|保持|沿用|参照)|遵守|遵循|严格按|沿用`, `(?:没有?|申|未)`, `户|一下`),
		chinese(`(?:不管|不论|无论)(?:多|怎|什么|谁|哪|是否|是不是|有没有|如何|发生|改|何)`, ``, ``),
		chinese(`(?:要求|规则|约束|限制|前提|原则|底线|红线|规范|约定|习惯)(?:是|：|:|就是|有)|红线|底线|禁区|雷区`, `(?:什么|报错说|没有?|有什么)`, `什么|吗`),
		chinese(`(?:之后|以后|完|之前|以前|前|后|结束)[，,]?(?:请|都|也|就|再|一定)?(?:先|务必|记得|(?:要|得|须)(?:先|把|跑|过|写|删|清|加|通知|问|确认|更新|检查|关|释放|做|补|走))`, ``, `(?:等|花|过|生)`),
		chinese(`记得|切记|牢记|谨记|记住|留意`, `(?:我|还|不|没|他|她)`, `[我他她]|吗`),
		chinese(`一[个点行条处份句]?[都也]不(?:留|能|许|要|动|改|放|准|可|得)|[动碰改删乱省少]不得|半点都不`, ``, ``),
		chinese(`以[^，,。]{1,6}(?:开头|结尾|命名|为单位|区分|分隔)|[写用](?:英文|中文|英语)|默认(?:用|使用|走|不|取)|同步(?:更新|修改|改)|一并(?:更新|修改|改|提交)`, `(?:他|她|我|谁|为什么|没有?)`, `了|的(?:吗|？)`),
		chinese(`要(?:和|与|跟|有|带|加|打|写|包|留|脱敏|加密|校验|经过|通过|符合|兼容|支持|遵守|走|能|对|和现|跟现|避开|控制)`, `(?:不|我|你|他|她|们|户|想|快|主|重|次|简|摘|是不是|该不该|要|只|正|刚|还|又|谁|哪里|在)`, `[^，,。]*(?:吗|呢)`),
		chinese(`问(?:一下|过|问)?我|[跟和与找]我(?:确认|商量|说|讨论|审批)|等我(?:确认|点头|批准|同意)|我(?:同意|批准|点头|确认)(?:之后|以后|后|才|了再)`, `(?:他|她|谁|没|别人|老板|来)`, `了|过`),
		chinese(`(?:的[^，,。]{0,5}|就|则|一律)不(?:合并|提交|收|发|上线|接受|通过|批)|避开|绕开|留给我`, ``, `了`),
		chinese(`以后(?:都|请|就|一律|不)|从现在(?:起|开始)`, ``, ``),
	}
}

// imperative is a way of stating a rule that counts only where a sentence begins,
// or behind a request.
func imperative(word string) rule {
	return worded(`(?i)(?:^|[.;:!(\n]|\bplease)[ \t*-]*(?:`+word+`)\b`, excluded(``, ``, ``), excluded(``, ``, ``))
}

// opening is a way of stating a rule that counts only where a clause begins.
func opening(word string) rule {
	return worded(`(?i)(?:^|[.,;:!(\n]|\b(?:and|but|please|so|then|also|just|to))[ \t*-]*(?:`+word+`)`, excluded(``, ``, ``), excluded(``, ``, ``))
}
