package quota

import (
	"hash/maphash"
	"net/netip"
	"time"
)

// Callers returns the limit of requests without a proved caller.
func (q *Quotas) Callers() *Callers {
	if q == nil {
		return nil
	}
	return q.callers
}

// Admit rejects a request, before its caller is looked for, when too many from its
// address proved no caller: RATE_LIMITED. A request whose credential was proved
// lately is admitted in any case, so that many people may share an address.
func (c *Callers) Admit(remote, credential string) error {
	if c == nil {
		return nil
	}
	from, limit := addressOf(remote), float64(c.q.o.Limits.Unproven)
	over := c.addresses.of(from).count(0, limit, c.q.o.Now())
	if over <= 0 || c.knows(credential) {
		return nil
	}
	wait := time.Duration(over / limit * float64(time.Second))
	return c.q.Refuse(Unproven, max(wait, time.Second), "More than %d requests a second without a proved caller came from the address %s.", c.q.o.Limits.Unproven, from.Addr())
}

// Proved remembers a credential whose caller was proved.
func (c *Callers) Proved(credential string) {
	if c != nil {
		c.proved.of(maphash.String(c.seed, credential))
	}
}

// Unproved counts a request whose caller is not proved for its address, and
// forgets the credential.
func (c *Callers) Unproved(remote, credential string) {
	if c == nil {
		return
	}
	c.proved.forget(maphash.String(c.seed, credential))
	c.addresses.of(addressOf(remote)).count(1, float64(c.q.o.Limits.Unproven), c.q.o.Now())
}

// maxCredential is the size of the largest one that is looked up, because it is
// hashed for that.
const maxCredential = 16 << 10

func (c *Callers) knows(credential string) bool {
	return credential != "" && len(credential) <= maxCredential && c.proved.has(maphash.String(c.seed, credential))
}

// count adds requests and returns by how many the address is over its burst. What
// is over is bounded too, so that an address is free again soon after a storm.
func (b *budget) count(requests, limit float64, now time.Time) (over float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	forgotten := max(0, now.Sub(b.at).Seconds()) * limit
	b.used = min(max(0, b.used-forgotten)+requests, 2*burstSeconds*limit)
	b.at = now
	return b.used - burstSeconds*limit + 1
}

// addressOf is the address of a connection, without its port. Of IPv6 one network
// of 64 bits counts as an address, because each customer has at least that. What
// is no address counts as one.
func addressOf(remote string) netip.Prefix {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	ip, bits := at.Addr().Unmap().WithZone(""), 64
	if ip.Is4() {
		bits = 32
	}
	network, _ := ip.Prefix(bits) // these bits fit
	return network
}
