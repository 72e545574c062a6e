package company

import (
	"fmt"
	"strings"
	"time"
)

// TimeOffType is a kind of leave.
type TimeOffType struct {
	Code, Name, Description string
	Accrual                 float64 // days a month
	MaxCarryover            int     // days
	NeedsApproval           bool
	NoticeDays              int
}

// Balance is a person's days of one kind of leave in a fiscal year.
// Fiscal years are calendar years.
type Balance struct {
	EmployeeID                            string
	Type                                  string
	FiscalYear                            int
	Entitlement, Used, Pending, Carryover float64
}

// Available is what can still be taken, in days.
func (b Balance) Available() float64 { return b.Entitlement + b.Carryover - b.Used - b.Pending }

// Review is one performance review.
type Review struct {
	ID                  string
	EmployeeID          string
	ReviewerID          string
	Period              string // 2024-H1
	Date                time.Time
	Rating              int // 1–5
	GoalsMet            int // per cent
	Strengths           string
	AreasForImprovement string
	Comments            string // visible to the reviewer's side only, not to the employee
}

func timeOffTypes() []TimeOffType {
	return []TimeOffType{
		{"VACATION", "Vacation", "Paid time off for rest", 1.25, 5, true, 7},
		{"SICK", "Sick leave", "Paid leave for illness", 0.5, 3, true, 0},
		{"PERSONAL", "Personal leave", "Paid leave for personal matters", 0.25, 2, true, 2},
		{"BEREAVEMENT", "Bereavement leave", "Paid leave after a death in the family", 0, 0, true, 0},
		{"JURY_DUTY", "Jury duty", "Paid leave for service as a juror", 0, 0, false, 0},
		{"PARENTAL", "Parental leave", "Paid leave for new parents", 0, 0, true, 30},
		{"UNPAID", "Unpaid leave", "Leave without pay", 0, 0, true, 14},
	}
}

// balances gives everyone who is employed the three kinds of leave that
// accrue, this fiscal year and the next. Marcus has all of his vacation left.
func balances(day time.Time, people []Employee) []Balance {
	var out []Balance
	for i, e := range people {
		if e.Gone() {
			continue
		}
		for _, t := range timeOffTypes()[:3] {
			this := Balance{EmployeeID: e.ID, Type: t.Code, FiscalYear: day.Year(), Entitlement: t.Accrual * 12}
			next := this
			next.FiscalYear++
			if e.Number != "EMP052" {
				this.Used, this.Pending = float64(i%3), float64(i%2)
				this.Carryover = float64(min(i%4, t.MaxCarryover))
			}
			out = append(out, this, next)
		}
	}
	return out
}

// reviewed is a row of the review table: employee, reviewer, months before the
// day of seeding, and the texts.
type reviewed struct {
	employee, reviewer     string
	months                 int
	rating, goals          int
	strengths, areas, note string
}

// Nina's nine have their latest review thirteen months back, so that all nine
// are due. Marcus has an older one too: only the latest counts.
var reviewTable = [...]reviewed{
	{"EMP052", "EMP051", 13, 4, 92, "Dependable delivery and careful code reviews.", "Delegating earlier.", "Ready for a lead role within the year."},
	{"EMP052", "EMP051", 25, 3, 81, "Learns new systems quickly.", "Estimating larger pieces of work.", "Growing steadily; keep pairing with Priya."},
	{"EMP053", "EMP051", 13, 5, 100, "Sets the technical direction of the team.", "Writing designs down sooner.", "Retention risk: her market value is above her grade."},
	{"EMP054", "EMP051", 13, 4, 88, "Calm in incidents and thorough afterwards.", "Sharing the on-call load.", "Watch the overtime."},
	{"EMP055", "EMP051", 13, 4, 90, "Found and closed the oldest access problem.", "Explaining risk to non-engineers.", "Candidate for the security lead."},
	{"EMP056", "EMP051", 13, 3, 78, "Solid, well-tested services.", "Asking for help before a deadline slips.", "Two slipped dates; talked about it openly."},
	{"EMP057", "EMP051", 13, 4, 85, "Made the interface usable by keyboard alone.", "Measuring performance before changing it.", "Wants to move towards design systems."},
	{"EMP058", "EMP051", 13, 3, 75, "Cut the nightly load to a third.", "Documenting pipelines.", "Considering a transfer to Finance."},
	{"EMP059", "EMP051", 13, 4, 87, "Turned flaky suites into trusted ones.", "Automating the release checklist.", "A mentor to the newer people."},
	{"EMP05A", "EMP051", 13, 3, 70, "Curious and quick to take on feedback.", "Breaking work into smaller steps.", "First year; on track."},
	{"EMP051", "EMP050", 5, 5, 97, "Builds a team that people want to join.", "Saying no to side projects.", "Successor for the director role."},
	{"EMP050", "EMP003", 7, 4, 91, "Brought two product lines onto one platform.", "Hiring ahead of need.", "Strong year."},
	{"EMP062", "EMP060", 8, 4, 89, "Moved every office to single sign-on.", "Planning maintenance windows.", "Reliable in emergencies."},
	{"EMP061", "EMP060", 4, 3, 80, "Friendly and patient at the service desk.", "Closing tickets with a summary.", "Offer a permanent position after the internship."},
	{"EMP011", "EMP010", 6, 4, 93, "Rebuilt the onboarding programme.", "Reporting figures monthly.", "Could run a site."},
	{"EMP034", "EMP031", 3, 4, 96, "Won back two customers who had left.", "Handing over notes before a holiday.", "Ask for the larger territory."},
	{"EMP030", "EMP001", 4, 4, 98, "Opened two industries that were closed to us.", "Sharing the forecast earlier.", "Ask for a plan of succession."},
	{"EMP032", "EMP031", 9, 4, 95, "Knows every customer's business.", "Keeping records current.", "Next in line for a team."},
	{"EMP021", "EMP020", 10, 4, 90, "Budgets that departments understand.", "Automating month-end.", "Give her the planning tool project."},
	// Due in sales, support and finance, so that Carol, Ryan, Dan and Bob, who ask as
	// managers, have two each or more; one of them on the day itself.
	{"EMP035", "EMP031", 14, 3, 79, "Prepares every meeting with care.", "Qualifying leads earlier.", "Needs a mentor for negotiations."},
	{"EMP031", "EMP030", 13, 5, 104, "Carried the team over its target.", "Forecast discipline.", "Exceptional quarter."},
	{"EMP037", "EMP031", 12, 3, 84, "The most first meetings of the team.", "Writing shorter messages.", "Wants to become an account executive."},
	{"EMP042", "EMP040", 13, 4, 92, "Solves the tickets that others pass on.", "Writing up what he found.", "Backbone of the late shift."},
	{"EMP044", "EMP040", 15, 3, 77, "Patient with upset customers.", "Answering within the first hour.", "Overloaded in autumn; share the queue."},
	{"EMP022", "EMP020", 13, 4, 94, "Closed the year three days early.", "Explaining corrections to departments.", "Ready for the audit lead."},
	{"EMP024", "EMP020", 14, 4, 88, "Clear charts that the board uses.", "Checking sources before publishing.", "Interested in treasury."},
}

// plainReviews are what the reviews of everyone else say, in turn, about the
// person whose name replaces %s: no two people have the same text, so that a text
// that is shown tells whose it is.
var plainReviews = [...]reviewed{
	{rating: 4, goals: 91, strengths: "%s keeps promises, and says early when one will slip.", areas: "%s should delegate routine work.", note: "%s is steady and trusted."},
	{rating: 3, goals: 82, strengths: "%s learned the new system faster than planned.", areas: "%s should ask questions in larger meetings.", note: "%s is developing well."},
	{rating: 4, goals: 95, strengths: "Colleagues from other departments ask %s for advice.", areas: "%s should protect time for longer tasks.", note: "Consider %s for a lead role."},
	{rating: 5, goals: 100, strengths: "%s turned a failing project around within a quarter.", areas: "%s should write decisions down.", note: "Outstanding; keep %s."},
	{rating: 3, goals: 76, strengths: "%s works with care and few corrections.", areas: "%s should finish one thing before the next begins.", note: "Agreed with %s on a plan for the spring."},
}

func reviews(day time.Time) []Review {
	ids := make(map[string]string, len(table))
	for _, p := range table {
		ids[p.number] = p.uuid()
	}
	rows := append(reviewTable[:len(reviewTable):len(reviewTable)], reviewsOfOthers()...)
	out := make([]Review, 0, len(rows))
	for i, r := range rows {
		on := monthsBefore(day, r.months)
		out = append(out, Review{
			ID:         fmt.Sprintf("f1000000-0000-0000-0000-%012d", i+1),
			EmployeeID: ids[r.employee], ReviewerID: ids[r.reviewer],
			Period: halfYear(on), Date: on, Rating: r.rating, GoalsMet: min(r.goals, 100),
			Strengths: r.strengths, AreasForImprovement: r.areas, Comments: r.note,
		})
	}
	return out
}

// reviewsOfOthers gives one review, 2 to 11 months old, to everyone who is not in the
// table and has a manager.
func reviewsOfOthers() (rows []reviewed) {
	named := map[string]bool{}
	for _, r := range reviewTable {
		named[r.employee] = true
	}
	for _, p := range table {
		if named[p.number] || p.manager == "" || strings.HasPrefix(p.number, "EMP-T") {
			continue
		}
		r := plainReviews[len(rows)%len(plainReviews)]
		name := p.first + " " + p.last
		r.employee, r.reviewer, r.months = p.number, p.manager, 2+len(rows)%10
		r.strengths, r.areas, r.note = fmt.Sprintf(r.strengths, name), fmt.Sprintf(r.areas, name), fmt.Sprintf(r.note, name)
		rows = append(rows, r)
	}
	return rows
}

// halfYear names the half year that ended before a review was held.
func halfYear(on time.Time) string {
	if on.Month() <= time.June {
		return fmt.Sprintf("%d-H2", on.Year()-1)
	}
	return fmt.Sprintf("%d-H1", on.Year())
}
