package token

// prior is where the fit of a model begins: the medians of the fits of the
// recorded sessions of its family, and for families without any the medians of
// those of the others. They are data: TestPriorsAreThoseOfTheCorpus finds them
// and holds them. Wide is as Prose, because no recorded session holds enough
// Chinese, Japanese or Korean to fit it.
func prior(model string) Coefficients {
	switch FamilyOf(model) {
	case FamilyClaude: // 50 sessions of Opus 4.5 and 4.6 and Sonnet 4.5
		return Coefficients{Prose: 1.050, Code: 1.214, Numbered: 1.099, Arguments: 1.068, Wide: 1.050, Thinking: 1.445, Native: 1, Message: 36.5, Call: 10.0}
	case FamilyGPT: // 5 sessions of GPT-5.3 and 5.5
		return Coefficients{Prose: 0.986, Code: 0.999, Numbered: 1, Arguments: 1, Wide: 0.986, Thinking: 1, Native: 1, Message: 16.9, Call: -1.8}
	case FamilyDeepSeek: // 3 sessions of deepseek-chat
		return Coefficients{Prose: 1, Code: 1.059, Numbered: 1, Arguments: 1, Wide: 1, Thinking: 1, Native: 1, Message: 12.1, Call: 2.1}
	}
	return Coefficients{Prose: 1, Code: 1.059, Numbered: 1, Arguments: 1, Wide: 1, Thinking: 1, Native: 1, Message: 16.9, Call: 2.1}
}
