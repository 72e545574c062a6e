package rehearsal

import "slices"

// plainest settles an order that could mean things of several sorts ("delete
// Kestrel", when a boat and a keeper are called so). Each sort is looked up; if
// more than one has such a thing, the person has to say which sort is meant.
func (p *planner) plainest(readings []*reading) (outcome, bool) {
	tied := p.tied(readings)
	if len(tied) < 2 {
		return outcome{}, false
	}
	var meant []string
	complete := true
	for _, r := range tied {
		answers, misfit := p.answers, p.misfit
		about, o := p.identify(r.f, r.target)
		p.answers, p.misfit = answers, misfit
		complete = complete && o.verdict != waiting
		if o.verdict == said && about.id != nil || o.verdict == asking {
			meant = append(meant, "the "+r.target.prop.noun()+" "+clean(r.target.span.text))
		}
	}
	switch {
	case !complete:
		return wait, true
	case len(meant) > 1:
		return say("That could be " + joinOr(meant) + ". Please ask again and say which sort of thing you mean."), true
	}
	return outcome{}, false
}

// tied are the best readings when they change different sorts of things and
// nothing in the question prefers one.
func (p *planner) tied(readings []*reading) []*reading {
	return slices.DeleteFunc(slices.Clone(readings), func(r *reading) bool {
		return !r.f.writes() || r.score < readings[0].score || r.target == nil || r.target.span.text == "" || r.strong()
	})
}
