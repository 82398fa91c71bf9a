package task

import (
	"regexp"
	"strings"
)

// Words by which a user says that another task begins, and words that say nothing
// but that the current one goes on.
var (
	mark   = regexp.MustCompile(`(?i)^\s*(?:/task\b|(?:new|next|another|different|separate|unrelated) (?:task|topic|question|issue|problem)\b\s*[:：,.–—-]|unrelated(?:ly)?\s*[:,]|(?:新|下一个|另一个|另外一个|换个|换一个)(?:任务|话题|问题)\s*[：:，,。])`)
	onward = regexp.MustCompile(`(?i)^(?:(?:yes|yep|yeah|yup|ok|okay|sure|right|fine|good|great|perfect|nice|cool|thanks|thank you|please|go|go on|go ahead|go for it|continue|carry on|proceed|keep going|next|do it|do that|let's go|let's do it|sounds good|looks good|lgtm|resume|more|and|now|try again|again|retry|y|no|nope|继续|好|好的|可以|行|嗯|是|是的|对|对的|没问题|接着|接着做|接着来|继续吧|继续做|下一步|再试一次|谢谢|就这样|请|吧|了|做吧|开始|开始吧|続けて|はい|お願いします|계속|네)[\s,.!~，。！、…-]*)+$`)
)

// reply is how an answer to what was said before begins, or a message that refers
// to it.
var reply = regexp.MustCompile(`(?i)^[\s\W]*(?:(?:yes|yep|yeah|yup|ok|okay|sure|right|exactly|correct|fine|good|great|perfect|nice|cool|thanks|thank|no|nope|nah|hmm+|hm|um+|uh|ah+|oh|well|wait|sorry|actually|also|and|but|so|or|then|because|still|again|instead|maybe|it|its|it's|that|that's|this|these|those|they|them|he|she|same|both|neither|either|why|what about|how about|what if|now|next|one more|another|agreed|option|finish|continue|before (?:we|you)|after that|as (?:i|you) (?:said|mentioned)|just|let's|let us|lets|did you|do you|don't|are you|can you also|could you also|would (?:it|that)|is (?:it|that|this)|does (?:it|that|this)|was (?:it|that)|you (?:said|mentioned|forgot|missed|can|should|don't))\b|\d{1,2}(?:[).:,\s]|$)|[a-z](?:[).:,]|$))|^[\s\pP]*(?:好|可以|行|嗯|是的|对|没问题|不对|不是|不用|那|这|它|还有|另外|但是|不过|而且|所以|然后|接着|继续|为什么|再|也|刚才|上面|就|谢谢|哦|啊)`)

// refers reports whether a message begins as an answer.
func refers(user string) bool { return reply.MatchString(user) }

func marked(user string) bool { return mark.MatchString(user) }

// command is a mark that names its task.
var command = regexp.MustCompile(`(?i)^\s*/task[ \t]+(\S[^\n]*)`)

// longestName is the longest name of a task, in bytes, that a mark gives: more is
// what the user wants of it.
const longestName = 80

// called is the name that a mark gives its task, "" for none.
func called(user string) string {
	m := command.FindStringSubmatch(user)
	if m == nil || len(m[1]) > longestName {
		return ""
	}
	return strings.TrimSpace(m[1])
}

// longestOnward is the longest message, in bytes, that only says to go on.
const longestOnward = 80

// goesOn reports whether a message only says to go on. A turn without words does.
func goesOn(user string) bool {
	user = strings.TrimSpace(user)
	return user == "" || len(user) <= longestOnward && onward.MatchString(user)
}

// firstLine is the first line of a message that holds anything.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line[:min(len(line), 200)])
}
