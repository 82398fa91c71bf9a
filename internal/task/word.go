package task

import "strings"

// stem is a word without its commonest endings, "" for one that is short or says
// nothing about what a task is about.
func stem(w string) string {
	if len(w) < 4 || common[w] {
		return ""
	}
	for _, end := range []string{"ings", "ing", "edly", "ies", "ed", "es", "s"} {
		if s, ok := strings.CutSuffix(w, end); ok && len(s) >= 4 {
			return s
		}
	}
	return w
}

// common are words that say nothing about what a task is about, because they are
// in every message.
var common = map[string]bool{
	"about": true, "above": true, "actually": true, "after": true, "again": true, "against": true, "ahead": true, "almost": true,
	"along": true, "already": true, "also": true, "although": true, "always": true, "among": true, "another": true, "anything": true,
	"around": true, "away": true, "back": true, "because": true, "become": true, "been": true, "before": true, "being": true,
	"below": true, "better": true, "between": true, "both": true, "bring": true, "call": true, "came": true, "cannot": true,
	"change": true, "changes": true, "check": true, "come": true, "could": true, "couple": true, "currently": true, "definitely": true,
	"didn": true, "does": true, "doesn": true, "doing": true, "done": true, "down": true, "each": true, "either": true,
	"else": true, "ensure": true, "even": true, "ever": true, "every": true, "everything": true, "exactly": true, "explain": true,
	"file": true, "files": true, "find": true, "first": true, "follow": true, "following": true, "forward": true, "from": true,
	"fully": true, "further": true, "gave": true, "getting": true, "give": true, "given": true, "goes": true, "going": true,
	"good": true, "great": true, "half": true, "happen": true, "happens": true, "hasn": true, "have": true, "haven": true,
	"having": true, "help": true, "here": true, "hey": true, "however": true, "idea": true, "instead": true, "into": true,
	"isn": true, "issue": true, "issues": true, "just": true, "keep": true, "kind": true, "know": true, "last": true,
	"later": true, "least": true, "left": true, "less": true, "like": true, "likely": true, "line": true, "lines": true,
	"little": true, "long": true, "look": true, "looking": true, "looks": true, "made": true, "make": true, "makes": true,
	"making": true, "many": true, "maybe": true, "mean": true, "means": true, "might": true, "mind": true, "more": true,
	"most": true, "much": true, "must": true, "need": true, "needs": true, "never": true, "next": true, "nice": true,
	"nothing": true, "nope": true, "okay": true, "once": true, "only": true, "onto": true, "other": true, "others": true,
	"otherwise": true, "ours": true, "over": true, "part": true, "perhaps": true, "please": true, "possible": true, "probably": true,
	"problem": true, "proceed": true, "pull": true, "push": true, "put": true, "quick": true, "quite": true, "rather": true,
	"ready": true, "really": true, "right": true, "same": true, "saying": true, "says": true, "seems": true, "seen": true,
	"several": true, "shall": true, "should": true, "show": true, "since": true, "some": true, "someone": true, "something": true,
	"sometimes": true, "soon": true, "sorry": true, "still": true, "stuff": true, "such": true, "sure": true, "take": true,
	"taken": true, "tell": true, "than": true, "thank": true, "thanks": true, "that": true, "their": true, "them": true,
	"then": true, "there": true, "these": true, "they": true, "thing": true, "things": true, "think": true, "this": true,
	"those": true, "though": true, "thought": true, "through": true, "time": true, "times": true, "together": true, "told": true,
	"took": true, "toward": true, "tried": true, "tries": true, "trying": true, "turn": true, "under": true, "until": true,
	"update": true, "upon": true, "used": true, "uses": true, "using": true, "very": true, "want": true, "wants": true,
	"wasn": true, "ways": true, "well": true, "went": true, "were": true, "what": true, "when": true, "where": true,
	"whether": true, "which": true, "while": true, "whole": true, "whom": true, "whose": true, "will": true, "with": true,
	"within": true, "without": true, "wonder": true, "work": true, "working": true, "works": true, "would": true, "wouldn": true,
	"write": true, "wrong": true, "yeah": true, "your": true, "yours": true, "yourself": true, "continue": true, "commit": true,
	"run": true, "test": true, "tests": true, "code": true,
}
