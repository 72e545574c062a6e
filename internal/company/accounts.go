package company

// Account is someone who can sign in. Its subject is a UUID, as most issuers have
// them, and not the employee id: only the e-mail address joins the two.
type Account struct {
	Subject  string
	Username string
	Name     string
	Email    string
	Title    string
	Roles    []string // as an issuer spells them
	Groups   []string
}

// Accounts lists the people who can sign in to the sample company, the one who
// sees everything first. Everyone but the auditor and the test account, which has no
// role and sees nothing, is an active employee with the same e-mail address.
func Accounts() []Account {
	return []Account{
		{"c689b06c-835d-4826-8da8-8993b56fd1f4", "eve.thompson", "Eve Thompson", "eve@tamshai.local", "Chief Executive Officer",
			[]string{"employee", "manager", "executive"}, []string{"/All-Employees", "/C-Suite"}},
		{"d31a9a64-90cc-4ad2-b1f0-6131d62f36c2", "alice.chen", "Alice Chen", "alice@tamshai.local", "VP of Human Resources",
			[]string{"employee", "manager", "hr-read", "hr-write"}, []string{"/All-Employees", "/HR-Department", "/Managers"}},
		{"531b6b65-1227-4cd1-b2c5-0be5e5af4ae2", "bob.martinez", "Bob Martinez", "bob@tamshai.local", "Finance Director",
			[]string{"employee", "manager", "finance-read", "finance-write"}, []string{"/All-Employees", "/Finance-Team", "/Managers"}},
		{"1a898b0b-4e05-4f20-8afc-0383017f9cf6", "carol.johnson", "Carol Johnson", "carol@tamshai.local", "VP of Sales",
			[]string{"employee", "manager", "sales-read", "sales-write"}, []string{"/All-Employees", "/Sales-Managers"}},
		{"7e9da984-3839-4fd5-8fb8-129d1c1280bc", "dan.williams", "Dan Williams", "dan@tamshai.local", "Support Director",
			[]string{"employee", "manager", "support-read", "support-write"}, []string{"/All-Employees", "/Support-Team", "/Managers"}},
		{"49604849-9145-49ea-a0fe-2cb9084ba88b", "nina.patel", "Nina Patel", "nina.p@tamshai.local", "Engineering Manager",
			[]string{"employee", "manager"}, []string{"/All-Employees", "/Engineering-Managers"}},
		{"fe144275-f62d-4289-b326-4d476f1efb6b", "marcus.johnson", "Marcus Johnson", "marcus.j@tamshai.local", "Software Engineer",
			[]string{"employee"}, []string{"/All-Employees", "/Engineering-Team"}},
		{"592f04a2-c29f-42d5-ab0d-ccaf11f4d57e", "frank.davis", "Frank Davis", "frank@tamshai.local", "IT Intern",
			[]string{"employee"}, []string{"/All-Employees", "/IT-Team"}},
		{"589312a9-1987-44be-bff0-891654d73c50", "ryan.garcia", "Ryan Garcia", "ryan.garcia@tamshai.local", "Sales Manager",
			[]string{"employee", "manager", "sales-read"}, []string{"/All-Employees", "/Sales-Team", "/Managers"}},
		{"c6ef1101-3f00-48d5-8b3f-034cee6f934d", "amanda.white", "Amanda White", "amanda.white@tamshai.local", "Senior Account Executive",
			[]string{"employee", "sales-read"}, []string{"/All-Employees", "/Sales-Team"}},
		{"3c317a74-fd7c-4ee5-a8c1-d2c648e1fc0d", "auditor.demo", "Demo Auditor", "auditor.demo@tamshai.local", "External Auditor",
			[]string{"auditor"}, []string{"/Auditors"}},
		{"5bd22f82-e927-446b-8cb5-94847350a53f", "test-user.journey", "Journey Test User", "test-user.journey@tamshai.local", "Test Account",
			[]string{}, []string{"/Test-Accounts"}},
	}
}
