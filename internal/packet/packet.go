package packet

import "encoding/json"

// A Handoff gives a job to an agent. Its references are all of the Brain's that the
// agent may read.
type Handoff struct {
	BrainToAgent
	ID             string           `json:"id"`
	Task           AgentTaskContext `json:"task"`
	Constraints    []string         `json:"constraints"`
	ExpectedResult string           `json:"expectedResult"`
}

func (Handoff) crosses(BrainToAgent) {}

// A CutOff says why a result is not whole, "" where it is.
type CutOff string

// The reasons.
const (
	CutMaxTokens CutOff = "max_tokens"
	CutRounds    CutOff = "rounds"
	CutRefusal   CutOff = "refusal"
	CutError     CutOff = "error"
)

// Values are all reasons, with that of a whole result.
func (CutOff) Values() []string {
	return []string{"", string(CutMaxTokens), string(CutRounds), string(CutRefusal), string(CutError)}
}

// A Result is what an agent made of its job: never its transcript, its reasoning or
// its log of tools.
type Result struct {
	AgentToBrain
	Handoff       string       `json:"handoffId"`
	Task          string       `json:"taskId"`
	Parent        string       `json:"parentId"`
	Progress      TaskProgress `json:"progress"`
	Summary       string       `json:"summary"`
	Artifacts     []ContextRef `json:"artifacts"`
	Risks         []string     `json:"risks"`
	NextQuestions []string     `json:"nextQuestions"`
	CutOff        CutOff       `json:"cutOff"`
}

func (Result) crosses(AgentToBrain) {}

// A Note is a question of a blocked worker, a fact that was promoted, or a page that
// was published.
type Note struct {
	AgentToBrain
	Task string       `json:"taskId"`
	Text string       `json:"text"`
	Refs []ContextRef `json:"contextRefs"`
}

func (Note) crosses(AgentToBrain) {}

// A Kind says what a message is.
type Kind string

// The kinds of messages.
const (
	KindHandoff  Kind = "handoff"
	KindResult   Kind = "result"
	KindQuestion Kind = "question"
	KindFact     Kind = "fact"
	KindArtifact Kind = "artifact"
	KindError    Kind = "error" // a result of a job that failed
)

// Values are all kinds.
func (Kind) Values() []string {
	return []string{string(KindHandoff), string(KindResult), string(KindQuestion), string(KindFact), string(KindArtifact), string(KindError)}
}

// Orchestrator is the name of the Brain in messages.
const Orchestrator = "orchestrator"

// A Message is a packet as it is recorded, with who sent it to whom. A name is that
// of a role, or [Orchestrator].
type Message[D Direction] struct {
	ID      string          `json:"id"`
	Parent  string          `json:"parentId,omitempty"`
	From    string          `json:"from"`
	To      string          `json:"to"`
	Kind    Kind            `json:"kind"`
	Payload json.RawMessage `json:"payload"`
	Refs    []ContextRef    `json:"contextRefs,omitempty"`
}

// Down is the message that takes a payload of the Brain to an agent.
func Down[P Payload[BrainToAgent]](id, parent, to string, kind Kind, p P) (Message[BrainToAgent], error) {
	raw, err := json.Marshal(p)
	return Message[BrainToAgent]{ID: id, Parent: parent, From: Orchestrator, To: to, Kind: kind, Payload: raw}, err
}

// Up is the message that takes a payload of an agent to the Brain.
func Up[P Payload[AgentToBrain]](id, parent, from string, kind Kind, p P) (Message[AgentToBrain], error) {
	raw, err := json.Marshal(p)
	return Message[AgentToBrain]{ID: id, Parent: parent, From: from, To: Orchestrator, Kind: kind, Payload: raw}, err
}
