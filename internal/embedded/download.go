package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"

	"countersign.dev/internal/fault"
)

// downloadWithin bounds a download on a slow line.
const downloadWithin = 5 * time.Minute

// Download returns a fetcher that gets PostgreSQL's portable binaries (about
// 15 MB) from their public repository and keeps them in a folder, so that the
// second start needs no network. progress is told every second how long it has
// taken, in words for people. The folder must be reachable for the user that
// the server will run as.
func Download(folder string, progress func(string)) Fetcher {
	return func(ctx context.Context) (string, error) {
		bin := filepath.Join(folder, string(embeddedpostgres.V17), "bin")
		if whole(bin) {
			return bin, nil
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return "", err
		}
		work, err := os.MkdirTemp(folder, "unpacking-")
		if err != nil {
			return "", err
		}
		defer func() { _ = os.RemoveAll(work) }()
		if err := os.Chmod(work, 0o755); err != nil {
			return "", err
		}
		if err := watched(ctx, progress, func() error { return unpack(work) }); err != nil {
			return "", unfetched(err)
		}
		if !whole(filepath.Join(work, "programs", "bin")) {
			return "", unfetched(fmt.Errorf("the archive holds no postgres"))
		}
		// The name appears only when everything is there: a broken download
		// leaves nothing that the next start could take for whole. Another
		// process may have been faster; then its copy serves.
		if err := os.Rename(filepath.Join(work, "programs"), filepath.Dir(bin)); err != nil && !whole(bin) {
			return "", err
		}
		return bin, nil
	}
}

// DownloadFolder is where fetched programs are kept: in the user's cache, or,
// for root, where the unprivileged user that PostgreSQL then runs as may read.
func DownloadFolder() string {
	cache, err := os.UserCacheDir()
	if os.Getuid() == 0 || err != nil {
		cache = "/var/cache"
	}
	return filepath.Join(cache, "countersign", "postgres")
}

// whole reports whether a folder has both programs.
func whole(bin string) bool {
	for _, name := range []string{"postgres", "initdb"} {
		if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
			return false
		}
	}
	return true
}

func unfetched(cause error) error {
	return fault.ServiceDown.New("PostgreSQL is not installed here and could not be fetched.").
		Suggest("Connect to the internet and try again, or install it (Debian, Ubuntu: apt install postgresql; macOS: brew install postgresql), or use a running server with --postgres URL.").
		Because(cause)
}

// unpack lets the module fetch, check and unpack. The module would then make a
// cluster and start it, which is our own starter's work and impossible for
// root, so it is given an encoding that initdb refuses: what counts is that
// the programs are there afterwards.
func unpack(work string) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	fetched := embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().
		Version(embeddedpostgres.V17).Port(uint32(port)).Encoding("none-so-that-initdb-stops").Logger(nil).
		CachePath(filepath.Join(work, "archive")).RuntimePath(filepath.Join(work, "runtime")).BinariesPath(filepath.Join(work, "programs")))
	err = fetched.Start()
	if err == nil {
		return fetched.Stop()
	}
	if whole(filepath.Join(work, "programs", "bin")) {
		return nil
	}
	return err
}

// watched runs work, tells its progress, and gives up waiting when ctx ends.
// The module cannot be stopped, so work may go on until its own connection
// ends; it touches nothing but its folder.
func watched(ctx context.Context, progress func(string), work func() error) error {
	ctx, cancel := context.WithTimeout(ctx, downloadWithin)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work() }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	progress("Fetching PostgreSQL (about 15 MB, once) …")
	for started := time.Now(); ; {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case now := <-tick.C:
			progress(fmt.Sprintf("Fetching PostgreSQL … %d s", int(now.Sub(started).Seconds())))
		}
	}
}
