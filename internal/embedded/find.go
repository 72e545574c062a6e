package embedded

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"countersign.dev/internal/fault"
)

const (
	fetchWord     = "fetch"
	oldestMajor   = 15 // security_invoker views: others bypass row-level security
	installedBins = "/usr/lib/postgresql/*/bin"
	inspectWithin = 10 * time.Second
)

// Fetcher downloads PostgreSQL and returns the folder of its programs.
type Fetcher func(ctx context.Context) (bin string, err error)

// binaries is a folder with the programs of one PostgreSQL version.
type binaries struct {
	dir   string
	major int
}

func (b binaries) program(name string) string { return filepath.Join(b.dir, name) }

// findPostgres uses the configured folder; else it searches PATH, then the
// installed versions, newest first, then it downloads. Too old ones are skipped.
func findPostgres(ctx context.Context, bin string, download Fetcher, installed string) (binaries, error) {
	switch {
	case bin == fetchWord:
		return fetch(ctx, download)
	case bin != "":
		found, err := inspect(ctx, bin)
		if err != nil {
			return binaries{}, fault.ServiceDown.New("COUNTERSIGN_POSTGRES_BIN names %s, but %v.", bin, err).
				Suggest("Name the folder that holds postgres and initdb.")
		}
		return found, nil
	}
	var why error
	for _, dir := range candidates(installed) {
		found, err := inspect(ctx, dir)
		if err == nil {
			return found, nil
		}
		why = cmp.Or(why, fmt.Errorf("%s: %w", dir, err))
	}
	if download != nil {
		return fetch(ctx, download)
	}
	return binaries{}, fault.ServiceDown.New("PostgreSQL %d or newer was not found on this computer.", oldestMajor).
		Suggest("Install it (Debian, Ubuntu: apt install postgresql; macOS: brew install postgresql), or name the folder of its programs in COUNTERSIGN_POSTGRES_BIN, or use a running server with --postgres URL.").
		Because(why)
}

// candidates are folders in the order of preference. Where PATH leads to a link,
// both its folder and its target's are tried: initdb is beside postgres in one
// of them.
func candidates(installed string) []string {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
		if real, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	found, err := filepath.Glob(installed)
	if err != nil { // only a malformed pattern fails
		return dirs
	}
	slices.SortFunc(found, func(a, b string) int { return cmp.Compare(folderVersion(b), folderVersion(a)) })
	return append(dirs, found...)
}

// folderVersion reads 15 out of /usr/lib/postgresql/15/bin; 9.6 counts as 9.
func folderVersion(bin string) int {
	n, _ := strconv.Atoi(leadingDigits.FindString(filepath.Base(filepath.Dir(bin)))) // no number: last
	return n
}

var (
	leadingDigits = regexp.MustCompile(`^\d+`)
	versionLine   = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)
)

// inspect checks that a folder holds a usable PostgreSQL.
func inspect(ctx context.Context, dir string) (binaries, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return binaries{}, err
	}
	b := binaries{dir: dir}
	for _, name := range []string{"postgres", "initdb"} {
		if info, err := os.Stat(b.program(name)); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return binaries{}, fmt.Errorf("there is no program %s", name)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, inspectWithin)
	defer cancel()
	out, err := exec.CommandContext(ctx, b.program("postgres"), "--version").Output()
	if err != nil {
		return binaries{}, fmt.Errorf("its postgres does not run: %w", err)
	}
	match := versionLine.FindSubmatch(out)
	if match == nil {
		return binaries{}, fmt.Errorf("its postgres prints no version")
	}
	if b.major, err = strconv.Atoi(string(match[1])); err != nil || b.major < oldestMajor {
		return binaries{}, fmt.Errorf("it is version %s and %d is the oldest supported", match[1], oldestMajor)
	}
	return b, nil
}

func fetch(ctx context.Context, f Fetcher) (binaries, error) {
	if f == nil {
		return binaries{}, fault.ServiceDown.New("This program cannot download PostgreSQL here.").
			Suggest("Install it, or name the folder of its programs in COUNTERSIGN_POSTGRES_BIN, or use a running server with --postgres URL.")
	}
	dir, err := f(ctx)
	if err != nil {
		fault.Wrap(&err, "fetch postgres")
		return binaries{}, err
	}
	return inspect(ctx, dir)
}
