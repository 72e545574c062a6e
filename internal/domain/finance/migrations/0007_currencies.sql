-- A list with a bound of an amount asks whether it leaves invoices in other currencies out.
-- Where there are few, this index holds them; where there are many, one is found soon.
create index invoices_in_other_currencies on finance.invoices (invoice_date, id) where deleted_at is null and currency <> 'USD';
