package company

import (
	"fmt"
	"slices"
	"time"
)

// InvoicesPerVendor is how many invoices a vendor of a scaled company has, on
// average: the first vendors have many times as many, the last hardly one.
const InvoicesPerVendor = 50

// ScaledFinance returns a finance department of n invoices from five years, the
// same for the same n and day, made while it is read. Budgets and expense
// reports are those of [At].
func ScaledFinance(n int, instant time.Time) Finance {
	f := At(instant).Finance()
	day, sellers := dayOf(instant), n/InvoicesPerVendor+1
	f.Vendors = generate(sellers, scaledVendor)
	f.Invoices = generate(n, func(i int) Invoice { return scaledInvoice(i, sellers, day) })
	return f
}

func scaledVendor(i int) Vendor {
	trade := [...]string{"Logistics", "Software", "Catering", "Consulting", "Energy", "Print", "Media"}[i%7]
	return Vendor{ID: vendorID(i + 1), Name: fmt.Sprintf("%s %s %05d", lastNames[mix(uint64(i), 6)%26], trade, i)}
}

func scaledInvoice(i, sellers int, day time.Time) Invoice {
	age := int(mix(uint64(i), 7) % (5 * 365)) // days
	terms := 15 * (1 + int(mix(uint64(i), 8)%4))
	share := float64(mix(uint64(i), 9)%1_000_000) / 1_000_000
	in := Invoice{
		ID: fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(mix(uint64(i), 10)), i), Number: fmt.Sprintf("INV-S-%07d", i),
		VendorID: vendorID(1 + int(share*share*float64(sellers))), Description: fmt.Sprintf("Order %07d", i),
		Cents: int64(1_000 + mix(uint64(i), 11)%10_000_000), Department: departments()[mix(uint64(i), 12)%10].Code,
		Date: day.AddDate(0, 0, -age), SubmittedBy: timothy, Status: scaledStatus(i, age, terms),
	}
	in.Due, in.SubmittedAt = in.Date.AddDate(0, 0, terms), in.Date.Add(time.Duration(i%36_000)*time.Second)
	if in.Status == "approved" || in.Status == "paid" {
		in.ApprovedBy, in.ApprovedAt = bob, in.SubmittedAt.Add(24*time.Hour)
	}
	return in
}

// scaledStatus marks due invoices as paid, except one in two hundred.
func scaledStatus(i, age, terms int) string {
	luck := mix(uint64(i), 13) % 1000
	switch {
	case luck < 30:
		return "rejected"
	case age > terms && luck < 995:
		return "paid"
	case luck%2 == 0:
		return "approved"
	}
	return "pending"
}

// Finance returns the thirteen invoices, the budgets from 2024 to the company's
// year (2026 at least) and the eight expense reports. Of the unpaid invoices
// only INV-2025-008 is past due on the company's day; the others fall due 5 to
// 60 days later. A company that [Grown] made has as many as it was grown to.
func (c *Company) Finance() Finance {
	if c.Scale > 0 {
		return ScaledFinance(c.Scale, c.Day)
	}
	return Finance{
		Vendors:  slices.Values(vendors()),
		Invoices: slices.Values(c.invoices()),
		Budgets:  c.budgets(),
		Reports:  c.expenseReports(),
	}
}
