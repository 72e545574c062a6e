package finance

import (
	"context"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
	"countersign.dev/internal/money"
	"countersign.dev/internal/tool"
)

func (s *Server) deletion() []tool.Tool {
	return []tool.Tool{tool.Write(tool.Spec{
		Name: "delete_invoice", Title: "Delete an invoice",
		Description: "Delete an invoice that is neither approved nor paid. Needs the invoice_id; list_invoices finds it by invoice_number. A person must approve it first.",
		Allow:       writers, Synonyms: []string{"remove", "cancel", "bill"}, Untrusted: []string{"vendorName", "invoiceNumber", "message"}, // a receipt and a refusal name the vendor
	}, tool.Steps[deleteInvoice, deletionPreview, deletionPrecondition, invoiceDeleted]{Preview: s.previewDeletion, Apply: s.deleteInvoice})}
}

type deleteInvoice struct {
	InvoiceID string `json:"invoice_id" jsonschema:"format=uuid" jsonschema_description:"The invoice to delete" suggest:"Use list_invoices tool to find valid invoice IDs: with invoice_number it finds the id of one invoice." via:"list_invoices" tell:"I find no invoice with that id."`
	Reason    string `json:"reason,omitempty" jsonschema:"maxLength=500" jsonschema_description:"Optional reason for deletion (audit trail)" text:"lines"`
}

// deletionPreview is shown on the approval card.
type deletionPreview struct {
	InvoiceID     string  `json:"invoiceId" jsonschema:"format=uuid" field:"show=detail"`
	InvoiceNumber string  `json:"invoiceNumber"`
	VendorName    string  `json:"vendorName"`
	Amount        float64 `json:"amount" jsonschema:"minimum=0" field:"unit=USD"`
	Currency      string  `json:"currency" jsonschema:"default=USD"`
	Department    string  `json:"department"`
	Status        string  `json:"status" jsonschema:"enum=pending,enum=approved,enum=paid,enum=rejected"`
	DueDate       string  `json:"dueDate" jsonschema:"format=date"`
	Reason        string  `json:"reason" quote:"assistant" empty:"No reason provided"`

	cents int64
}

// Message is the question that the person answers.
func (c deletionPreview) Message() tool.Sentence {
	return tool.Say("Delete invoice %s of %s (%s, %s, %s, due %s)?\n\nIt will no longer be listed or paid, and this cannot be undone.",
		c.InvoiceNumber, c.VendorName, tool.Plain(money.Text(c.cents, c.Currency)), tool.Listed(c.Department), c.Status, c.DueDate)
}

// deletionPrecondition must still hold when the deletion is approved.
type deletionPrecondition struct {
	ID, Number, Vendor, Currency, Department, Status, Due string
	Cents                                                 int64
}

// invoiceDeleted is the answer to an approved deletion.
type invoiceDeleted struct {
	Deleted       bool   `json:"deleted"`
	InvoiceID     string `json:"invoiceId" jsonschema:"format=uuid"`
	InvoiceNumber string `json:"invoiceNumber"`
	Message       string `json:"message"`
}

const findInvoice = `
select i.id, i.number, v.name as vendor, i.currency, d.name as department, i.status, i.due_date::text as due, i.amount_cents as cents
from finance.invoices i
join finance.vendors v on v.id = i.vendor_id
join finance.departments d on d.code = i.department
where i.id = $1 and i.deleted_at is null`

func (s *Server) previewDeletion(ctx context.Context, in deleteInvoice) (deletionPreview, deletionPrecondition, error) {
	i, found, err := database.Row[deletionPrecondition](ctx, s.db, findInvoice+database.ForUpdate(ctx, s.db, "i"), in.InvoiceID)
	switch {
	case err != nil:
		return deletionPreview{}, deletionPrecondition{}, err
	case !found:
		return deletionPreview{}, deletionPrecondition{}, errNoInvoice.New("Invoice with ID %s not found.", in.InvoiceID).Tell("I find no invoice with that id.")
	case i.Status == "approved" || i.Status == "paid":
		return deletionPreview{}, deletionPrecondition{}, errNotDeletable.New("Invoice %s of %s cannot be deleted: it is %s.", i.Number, i.Vendor, i.Status).With("status", i.Status)
	}
	preview := deletionPreview{i.ID, i.Number, i.Vendor, money.Dollars(i.Cents), i.Currency, i.Department, i.Status, i.Due, in.Reason, i.Cents}
	return preview, i, nil
}

const hideInvoice = `
update finance.invoices set deleted_at = now(), deleted_by = $2
where id = $1 and deleted_at is null and status in ('pending', 'rejected')`

func (s *Server) deleteInvoice(ctx context.Context, _ deleteInvoice, seen deletionPrecondition) (invoiceDeleted, error) {
	who, err := access.From(ctx)
	if err != nil {
		return invoiceDeleted{}, err
	}
	if err := database.ExecOne(ctx, s.db, hideInvoice, seen.ID, who.Signature()); err != nil {
		return invoiceDeleted{}, err
	}
	return invoiceDeleted{Deleted: true, InvoiceID: seen.ID, InvoiceNumber: seen.Number, Message: "Invoice " + seen.Number + " of " + seen.Vendor + " has been deleted."}, nil
}
