package quiz

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
)

//go:embed set/grammar.txt
var grammarText string

//go:embed set/paraphrase.txt
var paraphraseText string

// A phrase is a line of the grammar.
type phrase struct {
	zh, zhAsked string
	en, enAsked string
	name, code  string
}

// A grammar holds the phrases by kind, in their order.
type grammar map[string][]phrase

func parseGrammar(text string) (grammar, error) {
	g := grammar{}
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) < 4 {
			return nil, fmt.Errorf("line %d of the grammar has %d cells, want 4 or more", i+1, len(cells))
		}
		cells = append(cells, "", "", "")
		g[cells[0]] = append(g[cells[0]], phrase{cells[1], cells[2], cells[3], cells[4], cells[5], cells[6]})
	}
	return g, nil
}

// writtenGrammar is the grammar with the other words.
func writtenGrammar() (grammar, error) {
	g, err := parseGrammar(grammarText)
	if err != nil {
		return nil, err
	}
	return g, g.withParaphrases(paraphraseText)
}

// deal picks a phrase so that it says nothing of what the page is about.
func (g grammar) deal(kind string, part, trouble int) phrase {
	list := g[kind]
	return list[(part*7+trouble*5+part*trouble)%len(list)]
}

// A writtenSet is a set of pages with questions that have one answer each. The
// first three sets say the same in three languages, so that they can be compared;
// those of other words ask for the pages of the third as somebody would who does
// not remember their words.
type writtenSet struct {
	name  string
	page  func(g grammar, part, trouble int) (target, text string)
	asked func(g grammar, part, trouble int) string
}

func writtenSets() []writtenSet {
	return []writtenSet{
		{"english", englishPage, englishQuestion},
		{"chinese", chinesePage, chineseQuestion},
		{"mixed", mixedPage, mixedQuestion},
		{"chinese, other words", mixedPage, otherWords},
		{"mixed, other words", mixedPage, mixedOtherWords},
	}
}

// askedOf is how many of three pages are asked for.
const askedOf = 2

// A written is a page of a set with its question, "" where it has none.
type written struct {
	row      quire.Row
	text     string
	question string
}

// pages writes the pages of a set, numbered from 1.
func (s *writtenSet) pages(g grammar) (out []written) {
	for p := range g["part"] {
		for t := range g["trouble"] {
			target, text := s.page(g, p, t)
			w := written{text: text, row: quire.Row{
				Page: quire.Page{
					Number: quire.PageNumber(len(out) + 1), Kind: quire.PageTool, Class: quire.ClassProse, Tool: "read",
					Action: quire.ActionRead, Target: target, Body: quire.Sum(text), Bytes: len(text), Call: len(out),
				},
				Session: 1, Outcome: quire.OutcomeUnknown, Owner: owner, Scope: quire.ScopeSession,
			}}
			if len(out)%3 < askedOf {
				w.question = s.asked(g, p, t)
			}
			out = append(out, w)
		}
	}
	return out
}

func chinesePage(g grammar, p, t int) (target, text string) {
	part, trouble := g["part"][p], g["trouble"][t]
	cause, remedy, aside := g.deal("cause", p, t), g.deal("remedy", p, t), g.deal("aside", p, t)
	switch (p + t) % 3 {
	case 0:
		return fmt.Sprintf("notes/%03d.md", p*37+t), fmt.Sprintf("# 排查记录\n\n现象：%s%s。\n\n原因：%s。\n处理：%s。\n\n备注：%s。\n",
			part.zh, trouble.zh, cause.zh, remedy.zh, aside.zh)
	case 1:
		return fmt.Sprintf("logs/%03d.log", p*37+t), fmt.Sprintf("08:12:40 信息 开始检查\n08:12:41 错误 %s%s\n08:12:41 信息 %s\n08:12:58 信息 结论：%s\n08:13:02 信息 下一步：%s\n",
			part.zh, trouble.zh, aside.zh, cause.zh, remedy.zh)
	default:
		return fmt.Sprintf("review/%03d.txt", p*37+t), fmt.Sprintf("提交说明\n\n修复%s的问题：%s。根本原因是%s。\n这次的做法是%s。%s。\n",
			part.zh, trouble.zh, cause.zh, remedy.zh, aside.zh)
	}
}

func chineseQuestion(g grammar, p, t int) string {
	part, trouble := g["part"][p], g["trouble"][t]
	forms := []string{"上次%s%s的问题是怎么解决的？", "%s为什么会%s，原因查清了吗", "%s%s，当时改了什么", "帮我找一下%s%s的记录"}
	return fmt.Sprintf(forms[(p*3+t)%len(forms)], part.zhAsked, trouble.zhAsked)
}

func englishPage(g grammar, p, t int) (target, text string) {
	part, trouble := g["part"][p], g["trouble"][t]
	cause, remedy, aside := g.deal("cause", p, t), g.deal("remedy", p, t), g.deal("aside", p, t)
	switch (p + t) % 3 {
	case 0:
		return fmt.Sprintf("notes/%03d.md", p*37+t), fmt.Sprintf("# Investigation\n\nSymptom: %s %s.\n\nCause: %s.\nFix: %s.\n\nRemark: %s.\n",
			part.en, trouble.en, cause.en, remedy.en, aside.en)
	case 1:
		return fmt.Sprintf("logs/%03d.log", p*37+t), fmt.Sprintf("08:12:40 INFO check begins\n08:12:41 ERROR %s %s\n08:12:41 INFO %s\n08:12:58 INFO conclusion: %s\n08:13:02 INFO next: %s\n",
			part.en, trouble.en, aside.en, cause.en, remedy.en)
	default:
		return fmt.Sprintf("review/%03d.txt", p*37+t), fmt.Sprintf("Commit message\n\nFix for %s: it %s. The root cause is that %s.\nWhat was done this time: %s. Besides, %s.\n",
			part.en, trouble.en, cause.en, remedy.en, aside.en)
	}
}

func englishQuestion(g grammar, p, t int) string {
	part, trouble := g["part"][p], g["trouble"][t]
	forms := []string{"how did we solve %s and %s last time?", "why did %s have this: %s, is the cause known", "%s, %s, what was changed then", "find the record about %s and %s"}
	return fmt.Sprintf(forms[(p*3+t)%len(forms)], part.enAsked, trouble.enAsked)
}

// mixedPage is Chinese text with names of code in it. What names the page is
// its path, its function or its error code, in turn.
func mixedPage(g grammar, p, t int) (target, text string) {
	part, trouble := g["part"][p], g["trouble"][t]
	cause, remedy := g.deal("cause", p, t), g.deal("remedy", p, t)
	target = fmt.Sprintf("notes/%03d.md", p*37+t)
	return target, fmt.Sprintf("现象：%s（%s，见 %s）%s，日志里有 %s。\n\n```\nerror[%s]: %s failed in %s at %s:%d\n```\n\n原因：%s。\n处理：%s，涉及 `%s`。\n",
		part.zh, part.name, part.code, trouble.zh, trouble.code,
		trouble.code, trouble.name, part.name, part.code, 20+3*t, cause.zh, remedy.zh, trouble.name)
}

func mixedQuestion(g grammar, p, t int) string {
	part, trouble := g["part"][p], g["trouble"][t]
	switch (p*3 + t) % 4 {
	case 0:
		return fmt.Sprintf("%s 报 %s 是什么原因", part.name, trouble.code)
	case 1:
		return fmt.Sprintf("%s 里%s的问题怎么改的", part.code, trouble.zhAsked)
	case 2:
		return fmt.Sprintf("%s 的 %s 出错，当时怎么处理", part.zhAsked, trouble.name)
	default:
		return fmt.Sprintf("%s和 %s 有关的%s", part.name, trouble.name, trouble.zhAsked)
	}
}

// otherWords asks in Chinese, with few characters of the page.
func otherWords(g grammar, p, t int) string {
	forms := []string{"上次%s，%s，后来怎么弄的", "记得%s有过一回%s，找出来看看", "%s：%s，是哪里的毛病", "%s碰到%s那次的结论"}
	return fmt.Sprintf(forms[(p+t*3)%len(forms)], g["other part"][p].zh, g["other trouble"][t].zh)
}

// mixedOtherWords mixes in English words and parts of names.
func mixedOtherWords(g grammar, p, t int) string {
	forms := []string{"%s %s 怎么 fix 的", "%s，%s，root cause 是什么", "找一下 %s 的 %s", "%s：%s，当时的 commit"}
	return fmt.Sprintf(forms[(p+t*3)%len(forms)], g["other part"][p].zhAsked, g["other trouble"][t].zhAsked)
}

// withParaphrases adds the phrases of the other words to a grammar.
func (g grammar) withParaphrases(text string) error {
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) != 3 {
			return fmt.Errorf("line %d of the paraphrases has %d cells, want 3", i+1, len(cells))
		}
		kind := "other " + strings.TrimSpace(cells[0])
		g[kind] = append(g[kind], phrase{zh: strings.TrimSpace(cells[1]), zhAsked: strings.TrimSpace(cells[2])})
	}
	for _, kind := range []string{"part", "trouble"} {
		if a, b := len(g[kind]), len(g["other "+kind]); a != b {
			return fmt.Errorf("there are %d paraphrases of %d of the kind %s", b, a, kind)
		}
	}
	return nil
}

// A writtenTable is the page table and the texts of a set.
type writtenTable []written

// Rows is that of [retrieve.Rows].
func (t writtenTable) Rows(_ context.Context, _ quire.Reader, f quire.Filter) iter.Seq2[quire.Row, error] {
	return func(yield func(quire.Row, error) bool) {
		for _, n := range f.Pages {
			if int(n) <= len(t) && !yield(t[n-1].row, nil) {
				return
			}
		}
	}
}

// Text is that of [retrieve.Texts].
func (t writtenTable) Text(_ context.Context, r *quire.Row) (string, error) {
	return t[r.Number-1].text, nil
}

// Written asks the questions that were written for it: in English, in
// Chinese, in Chinese with names of code, and in other words than those of the
// pages. Each has one answer among 360 pages.
func Written(ctx context.Context) (Scores, error) { return askWritten(ctx, 1) }

// askWritten asks one of so many questions.
func askWritten(ctx context.Context, of int) (Scores, error) {
	g, err := writtenGrammar()
	if err != nil {
		return nil, err
	}
	found := Scores{}
	for _, set := range writtenSets() {
		if err := set.run(ctx, g, of, found); err != nil {
			return nil, fmt.Errorf("recall, written questions in %s: %w", set.name, err)
		}
	}
	return found, nil
}

func (s *writtenSet) run(ctx context.Context, g grammar, of int, found Scores) error {
	t := writtenTable(s.pages(g))
	fields, flat, err := t.indexes(ctx)
	if err != nil {
		return err
	}
	pages := retrieve.Pages{Index: fields, Table: t, Texts: t}
	for i, asked := 0, 0; i < len(t); i++ {
		if t[i].question == "" {
			continue
		}
		if asked++; asked%of != 0 {
			continue
		}
		q := retrieve.Query{Text: t[i].question, Reader: quire.Reader{Who: owner, Session: 1}, Limit: wantedHits, Budget: hitTokens}
		hits, err := pages.Search(ctx, q)
		if err != nil {
			return err
		}
		plain, _, err := flat.Candidates(ctx, plainTerms(q.Text), &q.Reader, wantedHits)
		if err != nil {
			return err
		}
		n := t[i].row.Number
		newest := 0
		if back := len(t) - int(n); back < 5 {
			newest = back + 1
		}
		found.add(wayQuire, s.name, scoreOf(rankIn(hits, map[quire.PageNumber]bool{n: true})).shows(served(shinglesIn(linesText(hits)), keysIn(t[i].text))))
		found.add(wayPlain, s.name, scoreOf(slices.IndexFunc(plain, func(c index.Candidate) bool { return c.Ref.Page == n })+1))
		found.add(wayNewest, s.name, scoreOf(newest))
	}
	return nil
}

func keysIn(text string) (keys []uint64) {
	for k := range shinglesIn(text) {
		keys = append(keys, k)
	}
	return keys
}

// indexes makes the index of a set and the one with everything in one field.
func (t writtenTable) indexes(ctx context.Context) (fields, flat *index.Index, err error) {
	var docs, flattened []index.Document
	for i := range t {
		d, ok := retrieve.NewDocument(&t[i].row, "", t[i].text, "")
		if !ok {
			return nil, nil, fmt.Errorf("page %v is no document", t[i].row.Number)
		}
		docs, flattened = append(docs, d), append(flattened, flatten(d))
	}
	a, b := &index.Memory{}, &index.Memory{}
	fields, flat = index.New(a, a), index.New(b, b)
	return fields, flat, errors.Join(fields.Add(ctx, docs), flat.Add(ctx, flattened))
}
