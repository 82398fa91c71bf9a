package brain

import (
	"encoding/json"
	"time"

	"github.com/quire-agent/quire/internal/check"
	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/review"
	"github.com/quire-agent/quire/internal/role"
	"github.com/quire-agent/quire/internal/route"
)

// The types of the Brain's records, in the journal of the session. All of them name
// their run.
const (
	RecordRequest         = "run_request" // Request; before anything else
	RecordRunStart        = "run_start"   // RunStart
	RecordRunEnd          = "run_end"     // RunEnd
	RecordRunError        = "run_error"   // RunError
	RecordContextPlan     = "context_plan"
	RecordTodoPlan        = "todo_plan"
	RecordTodoUpdate      = "todo_update"
	RecordClarification   = "clarification_request"
	RecordWorkerStart     = "worker_start"
	RecordWorkerEnd       = "worker_end"
	RecordWorkerError     = "worker_error"
	RecordMessage         = "agent_message"
	RecordDispatch        = "dynamic_dispatch"
	RecordPlanReview      = "execution_plan_review"
	RecordToolApproval    = "tool_approval_decision"
	RecordToolExecution   = "tool_execution_summary"
	RecordToolCount       = "tool_call_count"
	RecordCheck           = "check_summary"
	RecordReviewArtifacts = "review_artifacts_summary"
	RecordReview          = "review_decision"
	RecordFix             = "fix_iteration"
	RecordPatch           = "patch_summary"
	RecordReport          = "final_report"
	RecordPrimaryEnd      = "primary_end"
	RecordMerge           = "worktree_merge"

	// RecordAgent stands in the journal of every agent's stream, before what the
	// agent does for a job, and once more in that of the Brain's session. What a
	// journal holds behind it is booked to it.
	RecordAgent = "agent_session"
)

// A Phase says for what an agent works.
type Phase string

// The phases.
const (
	PhaseRouter  Phase = "router"
	PhaseSupport Phase = "support"
	PhasePrimary Phase = "primary"
	PhaseReview  Phase = "review"
)

// A Scope is what an agent's work is booked to.
type Scope struct {
	Run     string              `json:"run"`
	Brain   string              `json:"brainId"`
	Role    route.Role          `json:"role"`
	Phase   Phase               `json:"phase"`
	Task    string              `json:"taskId"`
	Parent  string              `json:"parentId"`
	Agent   string              `json:"agentSessionId"` // <task>-<attempt>
	Model   string              `json:"modelId"`
	Attempt int                 `json:"attempt"`             // from 1
	Turn    int                 `json:"iteration,omitempty"` // of the primary: fixes before it
	Session quire.SessionNumber `json:"session,omitempty"`   // of its stream
}

// A Request opens a run.
type Request struct {
	Run      string         `json:"run"`
	Prompt   string         `json:"prompt"` // the user's words, raw
	Brain    string         `json:"brainId"`
	Mode     string         `json:"mode"`
	Permit   string         `json:"permit"`
	Images   int            `json:"images,omitempty"`
	Baseline check.Baseline `json:"baseline"`
}

// A Worker is a worker of the plan with what was settled for it.
type Worker struct {
	route.Worker
	Context string   `json:"contextId"`
	Models  []string `json:"models"` // that can be used, in the order in which they are tried
	Skipped []string `json:"skipped,omitempty"`
	Writes  bool     `json:"worktree,omitempty"`
}

// A Plan is what the run will do.
type Plan struct {
	Run      string                  `json:"run"`
	Mode     role.Mode               `json:"mode"`
	Brain    PlanBrain               `json:"brain"`
	Context  packet.BrainTaskContext `json:"context"`
	Route    route.Plan              `json:"agentPlan"`
	Workers  []Worker                `json:"workers"`
	Parallel int                     `json:"maxParallelAgents"`
	Tools    string                  `json:"toolExecution"`
}

// A PlanBrain names the brain of a plan.
type PlanBrain struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// The payloads of the records that are no packets, plans or summaries.
type (
	RunStart struct {
		Run     string `json:"run"`
		Prompt  string `json:"prompt"`
		Attempt int    `json:"attempt"`
		Model   string `json:"modelId"`
	}
	RunEnd struct {
		Run     string           `json:"run"`
		Summary string           `json:"summary"`
		Workers []ExecutedResult `json:"workerResults"`
		Report  FinalReport      `json:"finalReport"`
	}
	RunError struct {
		Run          string `json:"run"`
		Error        string `json:"error"`
		Attempt      int    `json:"attempt"`
		Turn         int    `json:"iteration,omitempty"`
		WillFallback bool   `json:"willFallback"`
	}
	ContextPlan struct {
		Run  string `json:"run"`
		Plan Plan   `json:"plan"`
	}
	TodoPlan struct {
		Run          string             `json:"run"`
		Todos        []route.Todo       `json:"todos"`
		Dependencies []route.Dependency `json:"dependencies"`
		Reason       string             `json:"reason,omitempty"`
	}
	TodoUpdate struct {
		Run     string       `json:"run"`
		Phase   Phase        `json:"phase"`
		Role    route.Role   `json:"role,omitempty"`
		Status  route.Status `json:"status"`
		Todos   []string     `json:"todoIds"`
		Summary string       `json:"summary,omitempty"`
		Error   string       `json:"error,omitempty"`
	}
	Clarification struct {
		Run           string              `json:"run"`
		Clarification route.Clarification `json:"clarification"`
		Attempt       int                 `json:"attempt"`
	}
	WorkerStart struct {
		Run     string         `json:"run"`
		Phase   Phase          `json:"phase"`
		Worker  route.Role     `json:"worker"`
		Goal    string         `json:"goal"`
		Handoff packet.Handoff `json:"handoff"`
		Model   string         `json:"model"`
		Agent   string         `json:"agentSessionId"`
		Attempt int            `json:"attempt"`
	}
	WorkerEnd struct {
		Run     string         `json:"run"`
		Phase   Phase          `json:"phase"`
		Worker  route.Role     `json:"worker"`
		Result  ExecutedResult `json:"result"`
		Attempt int            `json:"attempt"`
		Turn    int            `json:"iteration,omitempty"`
	}
	WorkerError struct {
		Run          string     `json:"run"`
		Phase        Phase      `json:"phase"`
		Worker       route.Role `json:"worker"`
		Task         string     `json:"taskId"`
		Error        string     `json:"error"`
		Attempt      int        `json:"attempt"`
		WillFallback bool       `json:"willFallback"`
	}
	AgentMessage struct {
		Run     string          `json:"run"`
		Phase   Phase           `json:"phase"`
		Worker  route.Role      `json:"worker"`
		Message json.RawMessage `json:"message"`
	}
	Dispatch struct {
		Run     string       `json:"run"`
		Phase   string       `json:"phase"` // request, result
		Role    route.Role   `json:"role"`
		Goal    string       `json:"goal,omitempty"`
		Reason  string       `json:"reason,omitempty"`
		Context string       `json:"contextId,omitempty"`
		Primary route.Role   `json:"primaryRole,omitempty"`
		Status  route.Status `json:"status,omitempty"`
		Summary string       `json:"summary,omitempty"`
	}
	PlanReview struct {
		Run      string   `json:"run"`
		Plan     string   `json:"planId"`
		Mode     string   `json:"mode"`
		Status   string   `json:"status"` // approved, blocked, needs_clarification, auto_approved
		Approver string   `json:"approver"`
		Reason   string   `json:"rationale"`
		Effects  []Effect `json:"proposedSideEffects"`
		Review   bool     `json:"requiredReview"`

		Validation Validation `json:"validationPlan"`
		Risks      []string   `json:"residualPreExecutionRisks"`
	}
	Validation struct {
		Checks   []string `json:"checks"`
		Evidence []string `json:"evidence"`
		Criteria []string `json:"successCriteria"`
	}
	Effect struct {
		Kind   string `json:"kind"` // file_edit, command
		Target string `json:"target"`
		Risk   string `json:"risk"`
	}
	ToolExecution struct {
		Run     string     `json:"run"`
		Phase   Phase      `json:"phase"`
		Role    route.Role `json:"role"`
		Task    string     `json:"taskId"`
		Event   string     `json:"event"` // start, end
		Call    string     `json:"toolCallId"`
		Tool    string     `json:"toolName"`
		IsError bool       `json:"isError,omitempty"`
		Args    string     `json:"argsSummary,omitempty"`   // of a start
		Result  string     `json:"resultSummary,omitempty"` // of an end
	}
	ToolApproval struct {
		Run      string     `json:"run"`
		Phase    Phase      `json:"phase"`
		Role     route.Role `json:"role"`
		Task     string     `json:"taskId"`
		Call     string     `json:"toolCallId"`
		Tool     string     `json:"toolName"`
		Decision string     `json:"decision"` // approved, blocked
		Approver string     `json:"approver"`
		Reason   string     `json:"reason,omitempty"`
		Args     string     `json:"argsSummary,omitempty"`
	}
	ToolCount struct {
		Run     string       `json:"run"`
		Total   int          `json:"total"`
		Failed  int          `json:"failed"`
		ByPhase []PhaseCount `json:"byPhase"`
	}
	PhaseCount struct {
		Phase Phase `json:"phase"`
		Total int   `json:"total"`
	}
	PrimaryEnd struct {
		Run    string        `json:"run"`
		Turn   int           `json:"iteration"`
		Model  string        `json:"modelId"`
		Text   string        `json:"text"`
		CutOff packet.CutOff `json:"cutOff"`
		Role   route.Role    `json:"role"`
	}
	CheckRecord struct {
		Run  string `json:"run"`
		Turn int    `json:"iteration"`
		check.Summary
	}
	ReviewRecord struct {
		Run  string `json:"run"`
		Turn int    `json:"iteration"`
		review.Decision
	}
	ReviewArtifacts struct {
		Run          string              `json:"run"`
		Turn         int                 `json:"iteration"`
		Files        []string            `json:"changedFiles"`
		Truncated    bool                `json:"diffTruncated"`
		Checks       string              `json:"checksStatus"`
		Tier         string              `json:"riskTier"`
		Mode         review.Mode         `json:"reviewMode"`
		Independence review.Independence `json:"independence"`
	}
	Fix struct {
		Run     string `json:"run"`
		Turn    int    `json:"iteration"` // from 1
		Trigger string `json:"trigger"`
	}
	PatchRecord struct {
		Run string `json:"run"`
		check.Patch
	}
	ReportRecord struct {
		Run    string      `json:"run"`
		Report FinalReport `json:"finalReport"`
	}
	Merge struct {
		Run       string     `json:"run"`
		Task      string     `json:"taskId"`
		Role      route.Role `json:"role"`
		Files     []string   `json:"files"`
		Conflicts []Conflict `json:"conflicts,omitempty"`
	}
)

// An ExecutedResult is the result of a job with what the Brain knows of it besides.
type ExecutedResult struct {
	packet.Result
	Role   route.Role          `json:"role"`
	Goal   string              `json:"goal"`
	Todos  []string            `json:"todoIds"`
	Status route.Status        `json:"status"`
	Error  string              `json:"error,omitempty"`
	Model  string              `json:"modelId,omitempty"`
	Full   *packet.ContextRef  `json:"fullReport,omitempty"` // the whole summary, where this one is an excerpt
	Source quire.SessionNumber `json:"session,omitempty"`    // of its stream
	Took   time.Duration       `json:"tookNs"`

	Conflicts []Conflict `json:"conflicts,omitempty"` // of a writer's changes with what stands in the project

	reply string // word for word
}

// A Conflict is a file that a writer changed and somebody else too. The project has
// the other one's version.
type Conflict struct {
	Path   string `json:"path"`
	Why    string `json:"why"`
	Marked string `json:"marked,omitempty"` // both versions, with marks where they differ
}
