package secret

// A lexicon finds all of its words in a text in one pass, in any case of ASCII
// letters. It is the automaton of Aho and Corasick (Communications of the ACM
// 18, 1975), with every transition worked out in advance. It does not change
// after it was made.
type lexicon struct {
	class  [256]uint8 // of a byte; 0: in no word
	shift  uint       // a state's row begins at state << shift
	next   []uint16   // row by row: the next state for each class
	ending [][]int32  // of a state: the numbers of the words that end in it
	first  uint16     // states from here on have words ending in them
	length []int      // of a word, in bytes
}

// newLexicon takes lower-case words of fewer than 65,536 bytes together.
func newLexicon(words []string) *lexicon {
	l := &lexicon{}
	classes := l.classify(words)
	for 1<<l.shift < classes {
		l.shift++
	}
	l.state()
	for n, w := range words {
		l.enter(n, w)
	}
	l.link()
	l.arrange()
	return l
}

// classify numbers the bytes that stand in words from 1 and returns how many
// classes there are.
func (l *lexicon) classify(words []string) int {
	n := 1
	for _, w := range words {
		for i := range len(w) {
			if l.class[w[i]] == 0 {
				l.class[w[i]] = uint8(n)
				n++
			}
		}
	}
	for c := 'a'; c <= 'z'; c++ {
		l.class[c-'a'+'A'] = l.class[c]
	}
	return n
}

// state adds a state and returns its number. State 0 is the beginning.
func (l *lexicon) state() uint16 {
	l.next = append(l.next, make([]uint16, 1<<l.shift)...)
	l.ending = append(l.ending, nil)
	return uint16(len(l.ending) - 1)
}

func (l *lexicon) row(state uint16) []uint16 { return l.next[int(state)<<l.shift:][:1<<l.shift] }

// enter lays the path of a word.
func (l *lexicon) enter(n int, word string) {
	at := uint16(0)
	for i := range len(word) {
		c := l.class[word[i]]
		to := l.row(at)[c]
		if to == 0 {
			to = l.state()
			l.row(at)[c] = to
		}
		at = to
	}
	l.ending[at] = append(l.ending[at], int32(n))
	l.length = append(l.length, len(word))
}

// link fills the rows, the states nearest to the beginning first: where a path
// has no step, the state of its longest suffix that is a path has one.
func (l *lexicon) link() {
	suffix := make([]uint16, len(l.ending))
	queue := []uint16{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		row, back := l.row(at), l.row(suffix[at])
		for c, to := range row {
			switch {
			case to == 0:
				row[c] = back[c]
			default:
				if at != 0 {
					suffix[to] = back[c]
				}
				l.ending[to] = append(l.ending[to], l.ending[suffix[to]]...)
				queue = append(queue, to)
			}
		}
	}
}

// arrange numbers the states anew, so that those with words come last.
func (l *lexicon) arrange() {
	number, n := make([]uint16, len(l.ending)), 0
	for _, wordy := range []bool{false, true} {
		l.first = uint16(n)
		for s, words := range l.ending {
			if (len(words) > 0) == wordy {
				number[s] = uint16(n)
				n++
			}
		}
	}
	next, ending := make([]uint16, len(l.next)), make([][]int32, len(l.ending))
	for s, to := range number {
		for c, old := range l.row(uint16(s)) {
			next[int(to)<<l.shift|c] = number[old]
		}
		ending[to] = l.ending[s]
	}
	l.next, l.ending = next, ending
}

// each calls hit for every place where a word begins, in the order of the ends of
// the words.
func (l *lexicon) each(text string, hit func(word, at int)) {
	state, shift, first := uint16(0), l.shift, l.first
	for i := range len(text) {
		state = l.next[int(state)<<shift|int(l.class[text[i]])]
		if state >= first {
			for _, w := range l.ending[state] {
				hit(int(w), i+1-l.length[w])
			}
		}
	}
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b - 'A' + 'a'
	}
	return b
}
