package main

import (
	"context"
	"flag"
	"fmt"
	"text/tabwriter"

	"countersign.dev/internal/company"
)

// configured parses a command that takes --config, and whatever more defines,
// and loads the configuration.
func (c command) configured(p program, need func(*config) []string, more ...func(*flag.FlagSet)) (*config, error) {
	var path string
	operands, err := c.parse(p, func(fs *flag.FlagSet) {
		fs.StringVar(&path, "config", "", "configuration `file`")
		for _, define := range more {
			define(fs)
		}
	})
	if err != nil {
		return nil, err
	}
	if len(operands) > 0 {
		return nil, usageError{"takes no operands"}
	}
	return loadConfig(path, p.getenv, need)
}

// needAdmin asks for the owner's login of every database that is configured.
func needAdmin(c *config) (problems []string) {
	if len(c.Databases) == 0 {
		problems = append(problems, "line 1: databases names none")
	}
	for name, db := range c.Databases {
		d, known := domainNamed(name)
		if !known {
			problems = append(problems, fmt.Sprintf("databases.%s: there is no such server", name))
		}
		if d.store.owner && db.AdminURL == "" {
			problems = append(problems, fmt.Sprintf("databases.%s.admin_url is required for this command", name))
		}
	}
	return problems
}

// eachDatabase runs a step for each configured database and tells the outcome
// in one table.
func eachDatabase(p program, c *config, step func(domain, databaseConfig) (string, error)) error {
	w := tabwriter.NewWriter(p.out, 0, 4, 2, ' ', 0)
	defer w.Flush()
	failed := false
	for _, d := range domains() {
		db, configured := c.Databases[d.name]
		if !configured {
			continue
		}
		said, err := step(d, db)
		if err != nil {
			failed, said = true, "failed: "+sentence(err)
		}
		fmt.Fprintf(w, "%s\t%s\n", d.name, said)
	}
	if failed {
		return fmt.Errorf("not everything succeeded")
	}
	return nil
}

func migrate(ctx context.Context, p program, c command) error {
	conf, err := c.configured(p, needAdmin)
	if err != nil {
		return err
	}
	return eachDatabase(p, conf, func(d domain, db databaseConfig) (string, error) {
		return d.store.migrate(ctx, db)
	})
}

// seed fills empty stores with the sample company, or with one grown to a size.
func seed(ctx context.Context, p program, c command) error {
	var scale float64
	conf, err := c.configured(p, needAdmin, func(fs *flag.FlagSet) {
		fs.Float64Var(&scale, "scale", 0, "fill with a company of this `size` instead; 1: 200,000 employees, 1 M invoices, deals and tickets")
	})
	if err != nil {
		return err
	}
	if scale < 0 || scale > maxScale {
		return usageError{fmt.Sprintf("--scale is between 0 and %d", maxScale)}
	}
	sample, said := company.At(today()), "holds the sample company"
	if scale > 0 {
		sample, said = company.Grown(scale, today()), fmt.Sprintf("holds a company of scale %v", scale)
	}
	return eachDatabase(p, conf, func(d domain, db databaseConfig) (string, error) {
		return said + ", unless it held one before", d.store.seed(ctx, db, sample)
	})
}

// maxScale keeps a slip of the finger from filling a disk.
const maxScale = 20
