package company

// Account is someone who can sign in. Its subject is not an employee id and
// not a UUID: only the e-mail address joins the two.
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
// sees everything first. Everyone but the auditor and the test account is an
// active employee with the same e-mail address.
func Accounts() []Account {
	return []Account{
		{"u1000001-0000-0000-0000-000000000001", "eve.thompson", "Eve Thompson", "eve@tamshai.local", "Chief Executive Officer",
			[]string{"employee", "manager", "executive"}, []string{"/All-Employees", "/C-Suite"}},
		{"u1000010-0000-0000-0000-000000000010", "alice.chen", "Alice Chen", "alice@tamshai.local", "VP of Human Resources",
			[]string{"employee", "manager", "hr-read", "hr-write"}, []string{"/All-Employees", "/HR-Department", "/Managers"}},
		{"u1000020-0000-0000-0000-000000000020", "bob.martinez", "Bob Martinez", "bob@tamshai.local", "Finance Director",
			[]string{"employee", "manager", "finance-read", "finance-write"}, []string{"/All-Employees", "/Finance-Team", "/Managers"}},
		{"u1000030-0000-0000-0000-000000000030", "carol.johnson", "Carol Johnson", "carol@tamshai.local", "VP of Sales",
			[]string{"employee", "manager", "sales-read", "sales-write"}, []string{"/All-Employees", "/Sales-Managers"}},
		{"u1000040-0000-0000-0000-000000000040", "dan.williams", "Dan Williams", "dan@tamshai.local", "Support Director",
			[]string{"employee", "manager", "support-read", "support-write"}, []string{"/All-Employees", "/Support-Team", "/Managers"}},
		{"u1000051-0000-0000-0000-000000000051", "nina.patel", "Nina Patel", "nina.p@tamshai.local", "Engineering Manager",
			[]string{"employee", "manager"}, []string{"/All-Employees", "/Engineering-Managers"}},
		{"u1000052-0000-0000-0000-000000000052", "marcus.johnson", "Marcus Johnson", "marcus.j@tamshai.local", "Software Engineer",
			[]string{"employee"}, []string{"/All-Employees", "/Engineering-Team"}},
		{"u1000061-0000-0000-0000-000000000061", "frank.davis", "Frank Davis", "frank@tamshai.local", "IT Intern",
			[]string{"employee"}, []string{"/All-Employees", "/IT-Team"}},
		{"u1000031-0000-0000-0000-000000000031", "ryan.garcia", "Ryan Garcia", "ryan.garcia@tamshai.local", "Sales Manager",
			[]string{"employee", "manager", "sales-read"}, []string{"/All-Employees", "/Sales-Team", "/Managers"}},
		{"u1000032-0000-0000-0000-000000000032", "amanda.white", "Amanda White", "amanda.white@tamshai.local", "Senior Account Executive",
			[]string{"employee", "sales-read"}, []string{"/All-Employees", "/Sales-Team"}},
		{"u1000090-0000-0000-0000-000000000090", "auditor.demo", "Demo Auditor", "auditor.demo@tamshai.local", "External Auditor",
			[]string{"auditor"}, []string{"/Auditors"}},
		{"u1000099-0000-0000-0000-000000000099", "test-user.journey", "Journey Test User", "test-user.journey@tamshai.local", "Test Account",
			[]string{"employee"}, []string{"/All-Employees"}},
	}
}
