package trace

import (
	"strings"
	"testing"
)

func TestCodex(t *testing.T) { golden(t, codexImporter(), "codex-*.jsonl") }

func FuzzCodex(f *testing.F) {
	seeds(f, "codex-*.jsonl")
	f.Add(`{"type":"compacted","payload":{"message":"m","replacement_history":[{"type":"reasoning"},7,[]]}}`)
	f.Add(`{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":9}}` + "\n" + `{"type":"x_output"}`)
	f.Fuzz(func(t *testing.T, log string) {
		codexImporter().match([]byte(log))
		checkContract(t, collect(t, codexImporter(), log))
	})
}

// Calls of logs that do not name their session must not be taken for one another.
func TestCodexCallsWithoutSession(t *testing.T) {
	call := func(text string) string {
		events := collect(t, codexImporter(), `{"type":"response_item","payload":{"type":"message","role":"assistant","content":"`+text+`"}}`)
		checkContract(t, events)
		_, line, _ := strings.Cut(dump(events), "call ")
		id, _, _ := strings.Cut(line, " ")
		return id
	}
	if a, b := call("one"), call("two"); a == b || a != call("one") || !strings.HasSuffix(a, "#1") {
		t.Errorf("the calls are %s and %s", a, b)
	}
}

func TestCodexTellsTypedFromMade(t *testing.T) {
	for text, made := range map[string]bool{
		"go on": false,
		"<environment_context>\n  <cwd>/</cwd>\n</environment_context>": true,
		"# AGENTS.md instructions for /home/ada":                        true,
		"# AGENTS.md is out of date":                                    false,
		"<turn_aborted>\nx\n</turn_aborted>":                            true,
		"<my_element/> is empty":                                        false,
		"<new_kind>x</new_kind>":                                        true,
	} {
		if got := codexMachineText(text); got != made {
			t.Errorf("%q made by a machine: %v", text, got)
		}
	}
}
