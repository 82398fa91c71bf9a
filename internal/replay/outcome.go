package replay

import "github.com/quire-agent/quire/internal/schedule"

// An Outcome is what a policy would have cost on one session, and what it
// would have missed. Costs are in the unit of the setting's rates: US dollars
// in an audit, input tokens under a price profile.
type Outcome struct {
	Policy string
	Calls  int // recorded calls; faults come on top

	Cost       float64 // input side, plus output that only this policy caused; wide faults charged
	CostStrict float64 // the same with strict faults charged
	Output     float64 // recorded output, to be added to either

	Faults     int // strict
	FaultsWide int

	Prompt  int64 // prompt tokens over all calls, constant prefix included
	Net     int64 // the same without the constant prefix
	Peak    int   // largest prompt
	P95     int   // 95th percentile of the prompt
	Read    int64 // of Prompt, tokens read from the cache
	Epochs  int   // calls whose prompt did not extend the one before
	Cold    int   // calls whose cache had expired, whatever the policy did
	TooBig  int   // calls whose prompt exceeds the model's window
	Wanted  int64 // shingles of strict needs
	Covered int64 // of Wanted, those in the emitted prompt

	WantedWide  int64 // shingles of wide needs
	CoveredWide int64

	Extra       float64 // of Cost, what wide faults caused
	ExtraStrict float64 // of CostStrict, what strict faults caused

	Edits, EditsServed   int                 // edit calls; those all of whose old lines were in the prompt
	Rereads              int                 // reads of text that had been in the session before
	ServedText, Served   int                 // of Rereads: text in the prompt; text, or a handle of the same hash
	Demotions            int                 // items that left the prompt, or lost their content in it
	MisSchedules         int                 // strict faults on pages demoted within 10 calls
	Thrash               int                 // items demoted twice within 10 calls
	LiveCalls, DeadCalls int64               // token-calls of whole items that a later call needs, and of the others
	Completion           int64               // recorded output tokens
	Slope                float64             // growth of the prompt in tokens per call, after call 20
	Prompts              []int32             // size of each call's prompt
	Foreseen             schedule.Foresights // pages brought in because they were foreseen, of which it is known whether they were used
	Refused              Refusals            // calls that the assembler would not have made; of policies that make calls
	Prefix               float64             // of Cost, what the constant prefix cost
	Reasons              map[string]int      // epochs by reason
}
