package hr

import (
	"context"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

// Review is one performance review.
type Review struct {
	ReviewID            string          `json:"review_id" jsonschema:"format=uuid"`
	EmployeeID          string          `json:"employee_id" jsonschema:"format=uuid"`
	EmployeeName        string          `json:"employee_name" field:"label=Name"`
	ReviewerName        string          `json:"reviewer_name" field:"label=Reviewer"`
	ReviewPeriod        string          `json:"review_period" field:"label=Period"`
	ReviewDate          string          `json:"review_date" jsonschema:"format=date"`
	Status              string          `json:"status" jsonschema:"enum=current,enum=superseded" jsonschema_description:"current: the latest one of this person"`
	OverallRating       int             `json:"overall_rating" jsonschema:"minimum=1,maximum=5" field:"label=Rating,amount,aka=grade|score|mark"`
	GoalsMetPercentage  int             `json:"goals_met_percentage" jsonschema:"minimum=0,maximum=100" field:"label=Goals met,unit=percent"`
	Strengths           string          `json:"strengths"`
	AreasForImprovement string          `json:"areas_for_improvement"`
	Comments            string          `json:"comments" mask:"review"`
	NextReviewDue       string          `json:"next_review_due" jsonschema:"format=date" jsonschema_description:"Twelve months after this review" field:"aka=overdue|outstanding|late"`
	Relation            access.Relation `json:"-"`
}

// reviewKey is a review's sort key in lists.
type reviewKey struct{ Date, ID string }

// Key orders lists by date, the newest first.
func (r Review) Key() reviewKey { return reviewKey{r.ReviewDate, r.ReviewID} }

func (s *Server) reviews() []tool.Tool {
	return []tool.Tool{tool.List(tool.Spec{
		Name: "get_performance_reviews", Title: "Get performance reviews", Ask: "Which performance reviews are due?",
		Description: "List performance reviews, the newest first. " +
			"Without employee_id: of everyone whose reviews the caller may see. With due_before: only the latest review of each person whose next one is due by that day, the day included; for \"due\" give today's date.",
		Allow: reviewReaders, Synonyms: []string{"appraisal", "rating", "feedback", "evaluation"}, Noun: "reviews", Narrow: "employee or due date",
		Untrusted: []string{"strengths", "areas_for_improvement", "comments"},
	}, s.getReviews)}
}

type reviewsInput struct {
	EmployeeID string `json:"employee_id,omitempty" jsonschema:"format=uuid" jsonschema_description:"The employee whose reviews to show (default: everyone the asker may see)" suggest:"Use list_employees tool to find valid employee IDs, or verify the ID format is correct (UUID expected)." via:"list_employees" tell:"I find no employee with that id."`
	DueBefore  string `json:"due_before,omitempty" jsonschema:"format=date" jsonschema_description:"Only people whose next review, twelve months after their latest, is due by this day, the day included" field:"aka=overdue|outstanding,aka.yesterday=overdue|late|past due,aka.today=due|outstanding|i have to do|i have to write|do i have to do|do i have to write|i need to do|i need to write|do i need to do|do i need to write"`
}

// The page's ids are found first, in an index; only its rows are fetched. The
// planner finds them by person for a manager of few and by date for a manager of
// many: it estimates from the range of the caller's tree.
const listReviews = `
with page as (
  select id from hr.performance_reviews
  where lft between $1 and $2 and (review_date, id) < ($3, $4)
    and ($5 = '' or employee_id = nullif($5, '')::uuid)
    and ($6 = '' or latest and (review_date + interval '12 months')::date < nullif($6, '')::date)
  order by review_date desc, id desc
  limit $7
)
select r.id as review_id, r.employee_id, e.first_name || ' ' || e.last_name as employee_name,
       hr.name_of(r.reviewer_id) as reviewer_name, r.review_period, r.review_date::text,
       case when r.latest then 'current' else 'superseded' end as status, r.overall_rating, r.goals_met_percentage,
       r.strengths, r.areas_for_improvement, r.comments, (r.review_date + interval '12 months')::date::text as next_review_due,
       case when e.email = (select hr.caller_email()) then 1 when e.lft between b.low and b.high then 2 else 0 end as relation
from page join hr.performance_reviews r using (id)
join hr.employees e on e.id = r.employee_id
left join hr.below() b on true
order by r.review_date desc, r.id desc`

// dayAfter is the day after a date: what is due on a day is due by it. Without a
// date it is empty.
func dayAfter(day string) string {
	on, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return ""
	}
	return on.AddDate(0, 0, 1).Format(time.DateOnly)
}

// startOf is where the scan by date begins: no review newer than a year before
// that day falls due before it. The query adds the exact length of the month.
func startOf(dueBefore string) reviewKey {
	start := reviewKey{"9999-12-31", "ffffffff-ffff-ffff-ffff-ffffffffffff"}
	if day, err := time.Parse(time.DateOnly, dueBefore); err == nil {
		start.Date = day.AddDate(-1, 0, 0).Format(time.DateOnly)
	}
	return start
}

func (s *Server) getReviews(ctx context.Context, in reviewsInput, w tool.Window[reviewKey]) (reviews []Review, err error) {
	in.DueBefore = dayAfter(in.DueBefore)
	before := startOf(in.DueBefore)
	if w.After != nil && w.After.Date <= before.Date {
		before = *w.After
	}
	err = s.db.Read(ctx, func(ctx context.Context) error {
		visible, err := s.reviewScope(ctx, in.EmployeeID)
		if err != nil {
			return err
		}
		reviews, err = database.Rows[Review](ctx, s.db, listReviews, visible.Low, visible.High, before.Date, before.ID, in.EmployeeID, in.DueBefore, w.Limit)
		return err
	})
	return reviews, err
}

const seesPerson = `
select email = coalesce(hr.caller_email(), '') and not hr.caller_has('hr-write', 'executive') from hr.employees
where id = $1 and status = 'ACTIVE'`

// reviewScope is the part of the tree to search. A person named in the input
// must be in it: "no reviews" and "no such person" are different answers.
func (s *Server) reviewScope(ctx context.Context, id string) (treeRange, error) {
	visible, err := s.scope(ctx, "")
	if err != nil || id == "" {
		return visible, err
	}
	own, found, err := database.Row[bool](ctx, s.db, seesPerson, id)
	switch {
	case err != nil:
		return treeRange{}, err
	case !found:
		return treeRange{}, notFound(id)
	case own:
		return treeRange{}, fault.InvalidInput.New("Your own reviews are not shown to you here.").Suggest("Ask your manager or HR for your own reviews.").Fields("employee_id")
	}
	return visible, nil
}
