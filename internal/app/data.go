package app

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/storage"
)

// needAdmin requires the owner's login of every configured database.
func needAdmin(c *config.Config) (problems []string) {
	if len(c.Databases) == 0 {
		problems = append(problems, "line 1: databases names none")
	}
	for name, db := range c.Databases {
		if d, _ := domainNamed(name); d.store.Owner && db.AdminURL == "" {
			problems = append(problems, fmt.Sprintf("databases.%s.admin_url is required for this command", name))
		}
	}
	return problems
}

// eachDatabase runs a step for each configured database and prints the results
// as one table.
func eachDatabase(out io.Writer, c *config.Config, step func(domain, config.Database) (string, error)) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	defer w.Flush()
	failed := false
	for _, d := range domains() {
		db, configured := c.Databases[d.name]
		if !configured {
			continue
		}
		said, err := step(d, db)
		if err != nil {
			failed, said = true, "failed: "+fault.Operator(err)
		}
		fmt.Fprintf(w, "%s\t%s\n", d.name, said)
	}
	if failed {
		return fmt.Errorf("not everything succeeded")
	}
	return nil
}

// Migrate creates or updates the schemas of the configured stores.
func Migrate(ctx context.Context, o ConfigOptions) error {
	conf, err := o.load(needAdmin)
	if err != nil {
		return err
	}
	return eachDatabase(o.Out, conf, func(d domain, db config.Database) (string, error) {
		return d.store.Migrate(ctx, db)
	})
}

// MaxScale bounds --scale, so that a typing error does not fill the disk.
const MaxScale = 20

// SeedOptions say how large a company fills the stores.
type SeedOptions struct {
	ConfigOptions
	Scale float64 // 0: the sample company; at most MaxScale
}

// Seed fills empty stores with the sample company, or with one grown to a size.
func Seed(ctx context.Context, o SeedOptions) error {
	conf, err := o.load(needAdmin)
	if err != nil {
		return err
	}
	sample, said := company.At(today()), "holds the sample company"
	if o.Scale > 0 {
		sample, said = company.Grown(o.Scale, today()), fmt.Sprintf("holds a company of scale %v", o.Scale)
	}
	return eachDatabase(o.Out, conf, func(d domain, db config.Database) (string, error) {
		return said + ", unless it held one before", d.store.Seed(ctx, db, sample)
	})
}

// IndexOptions say which folders are indexed, and where their indexes are.
type IndexOptions struct {
	ConfigOptions          // File may be empty: then Folders are required
	Folders       []string // none: the repositories of the configuration
	Index         string   // folder of the indexes; default: that of the configuration
	Watch         bool     // go on, and update what changes, until the context ends

	// Beside finds the folder of a folder's index where neither names one.
	Beside func(folder string) (string, error)
}

// Index brings indexes of repositories up to date and prints one line for each.
// One that fails does not keep the others from being updated.
func Index(ctx context.Context, o IndexOptions) error {
	var conf config.CodeSearch
	if o.File != "" {
		loaded, err := o.load(func(*config.Config) []string { return nil })
		if err != nil {
			return err
		}
		conf = loaded.CodeSearch
	}
	return storage.Index(ctx, conf, storage.Indexing{Folders: o.Folders, Index: o.Index, Beside: o.Beside, Watch: o.Watch, Out: o.Out, Err: o.Err})
}
