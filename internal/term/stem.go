package term

// stem takes the commonest English endings off a word in lower case, so that
// times, timed and timing are one term. It is a short list on purpose: plurals,
// -ing, -ed and a silent e, no more. Words of fewer than four letters, and those
// with anything but the letters a to z, stay as they are. The result is a part
// of word or is word with a letter changed in place.
func stem(word []byte) []byte {
	if len(word) < 4 || !letters(word) {
		return word
	}
	word = singular(word)
	switch {
	case ends(word, "ing") && len(word) >= 6 && vowel(word[:len(word)-3]):
		return single(word[:len(word)-3])
	case ends(word, "ed") && len(word) >= 5 && !ends(word, "eed") && vowel(word[:len(word)-2]):
		return single(word[:len(word)-2])
	case ends(word, "e") && len(word) >= 4:
		return word[:len(word)-1]
	}
	return word
}

func letters(word []byte) bool {
	for _, b := range word {
		if b < 'a' || b > 'z' {
			return false
		}
	}
	return true
}

func ends(word []byte, ending string) bool {
	return len(word) > len(ending) && string(word[len(word)-len(ending):]) == ending
}

// singular takes off the ending of a plural or of a verb's third person.
func singular(word []byte) []byte {
	n := len(word)
	switch {
	case !ends(word, "s") || ends(word, "ss") || ends(word, "us") || ends(word, "is"):
		return word
	case ends(word, "ies") && n >= 5:
		word[n-3] = 'y'
		return word[:n-2]
	case ends(word, "sses"), ends(word, "xes"), ends(word, "ches"), ends(word, "shes"):
		return word[:n-2]
	}
	return word[:n-1]
}

func vowel(word []byte) bool {
	for _, b := range word {
		switch b {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			return true
		}
	}
	return false
}

// single undoes the doubling before an ending: running, planned.
func single(word []byte) []byte {
	n := len(word)
	if n >= 4 && word[n-1] == word[n-2] && word[n-1] != 'l' && word[n-1] != 's' && word[n-1] != 'z' {
		return word[:n-1]
	}
	return word
}
