package app

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// ownTexts are the fields of answers and cards whose texts neither people outside
// of the company nor other employees can choose, with the reason. A name with a tool in
// front counts for that tool only.
var ownTexts = listed(map[string]string{
	"made by us, or by the database":                       "_id customer_id vendor_id ticket_id ticketId article_id report_number type_code",
	"our own sentence; a name in it is quoted by the card": "message hint warning scope gradeRange recommendations",
	"an address that HR gave an employee":                  "owner account_owner accountOwner author assigned_to submittedBy",
	"HR's records, which the person cannot write":          "first_name last_name employee_name employeeName manager_name reviewer_name job_title jobTitle phone",
	"from a list that the company keeps":                   "department location category type_name currency",
	"written by our code as a date or a period":            "month quarter review_period",
	"the caller's own input, in their own card":            "reason lossReason approve_budget.notes close_deal.notes close_ticket.resolution",
	"the user name of who did it, or who they are":         "created_by updated_by link_created_by closed_by",
	"the path of a workspace, from the configuration":      "workspace_path workspacePath project_name git_root cleanup_deleted_tasks.project",
	"a name that the server gives":                         "tool_name filter",
	"the name of a signal of our ranking":                  "signal",
	"empty: only searches fill it":                         "get_knowledge_article.highlight",
})

func listed(byReason map[string]string) map[string]string {
	all := map[string]string{}
	for reason, fields := range byReason {
		for field := range strings.FieldsSeq(fields) {
			all[field] = reason
		}
	}
	return all
}

func TestTextsOfOthersAreMarked(t *testing.T) {
	used := map[string]bool{}
	for server, tools := range declarations(t) {
		for _, declared := range tools {
			spec := declared.Spec()
			for _, field := range declared.Texts() {
				key := spec.Name + "." + field
				if ownTexts[key] == "" {
					key = field
				}
				marked := slices.Contains(spec.Untrusted, field)
				if !marked && ownTexts[key] == "" {
					t.Errorf("%s.%s shows %s: put it into Spec.Untrusted, or into the list of own texts with a reason", server, spec.Name, field)
				}
				used[key] = used[key] || !marked
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(ownTexts)) {
		if !used[key] {
			t.Errorf("%s is in the list of own texts and in no unmarked answer", key)
		}
	}
}
