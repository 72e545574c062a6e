package access

import "strings"

// WriteRoles writes role names as one text for the audit, separated by spaces. A name that has a space is
// between quotes: package auth keeps no role that has one.
func WriteRoles(roles []string) string {
	written := make([]string, len(roles))
	for i, role := range roles {
		if written[i] = role; strings.Contains(role, " ") {
			written[i] = `"` + role + `"`
		}
	}
	return strings.Join(written, " ")
}

// ReadRoles reads what [WriteRoles] wrote. Of a text that was cut at its end ("…") it reads none: what the
// left out ones open is not known.
func ReadRoles(written string) (roles []string) {
	if strings.HasSuffix(written, "…") {
		return nil
	}
	for i, part := range strings.Split(written, `"`) {
		if i%2 == 1 {
			roles = append(roles, part)
		} else {
			roles = append(roles, strings.Fields(part)...)
		}
	}
	return roles
}
