package plan

import "countersign.dev/internal/llm/rehearsal/speak"

// thread is what was said before a question.
type thread struct {
	before   string          // the question before it
	basis    string          // that question, without what was asked of its rows since
	wide     string          // that question before it counted some of its rows
	sorted   string          // by what its list was sorted then
	answered string          // the message before it
	subject  string          // the person or thing of the last record that was shown
	single   bool            // the message named one thing
	waiting  bool            // a change was waiting for approval
	asked    string          // the last question that listed rows
	listing  string          // the last answer that listed rows
	fresh    string          // the question whose rows are not named yet
	lists    []*speak.Answer // all lists
	nouns    []string        // what their rows are called, the last first
	named    map[string]int  // how many rows were named since, by what they are called
	several  bool            // of two lists or more in one answer
}
