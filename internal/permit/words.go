package permit

import "fmt"

// A Mode is what a run may do at most.
type Mode uint8

// The modes. The zero mode is the safest.
const (
	ReadOnly Mode = iota // nothing is changed
	Edit                 // files of the project are changed; commands that do more are asked about
	Full                 // commands run; what reaches out of the project is asked about
)

var modeNames = [...]string{"read-only", "edit", "full"}

// String names the mode as the command line does.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return "unknown"
}

// ParseMode reads the form of String.
func ParseMode(text string) (Mode, error) {
	for i, name := range modeNames {
		if text == name {
			return Mode(i), nil
		}
	}
	return ReadOnly, fmt.Errorf("%q is not a permission mode: want read-only, edit or full", text)
}

// MarshalText writes the form of String.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads it.
func (m *Mode) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMode(string(text))
	return err
}

// A Verdict is what becomes of a call. A greater one is stricter.
type Verdict uint8

// The verdicts.
const (
	Allow Verdict = iota
	Ask
	Deny
)

var verdictNames = [...]string{"allow", "ask", "deny"}

// String names the verdict.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "unknown"
}

// ParseVerdict reads the form of String.
func ParseVerdict(text string) (Verdict, error) {
	for i, name := range verdictNames {
		if text == name {
			return Verdict(i), nil
		}
	}
	return Deny, fmt.Errorf("%q is not a verdict: want allow, ask or deny", text)
}

// MarshalText writes the form of String.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads it.
func (v *Verdict) UnmarshalText(text []byte) (err error) {
	*v, err = ParseVerdict(string(text))
	return err
}

// A Request is what a tool call would do. The zero Request does nothing that
// needs leave.
type Request struct {
	Tool    string
	Reads   []string // paths that are read
	Writes  []string // paths that are made, changed or removed
	Command string   // for the shell, "" for none
	Dir     string   // that the command starts in, "" for the project's folder
	Input   string   // lines for the standard input of the command: they are judged as what it makes of them
	Unknown bool     // a tool of which nothing is known: it may do anything
	Foreign bool     // a tool of a server that the user has configured and trusts
}

// A Decision is the verdict on a request.
type Decision struct {
	Verdict Verdict
	Reason  string    // for Ask and Deny: what is behind it and, for Deny, what would help; plain words, for the model and the user
	About   []Subject // for Ask: what the user has to answer for, in the order in which it stands in the request
	Network bool      // the request was allowed to reach the network
}

// A Subject is one thing that is asked about.
type Subject struct {
	Text   string // what would be done, as the user reads it
	Reason string
	Like   string // a wider thing that covers it ("go test"), "" when there is none
}
