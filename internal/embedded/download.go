package embedded

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/xi2/xz"

	"countersign.dev/internal/fault"
)

const (
	downloadWithin = 5 * time.Minute // on a slow line
	maxArchive     = 64 << 20
	maxUnpacked    = 512 << 20

	// archiveVersion is that of the portable PostgreSQL binaries which the
	// project zonkyio/embedded-postgres-binaries publishes as Maven artifacts.
	archiveVersion = "17.5.0"
	archiveURL     = "https://repo1.maven.org/maven2/io/zonky/test/postgres/embedded-postgres-binaries-%[1]s/%[2]s/embedded-postgres-binaries-%[1]s-%[2]s.jar"
)

// archiveDigests are the SHA-256 of the archives of archiveVersion. Another
// archive is never unpacked; a new version takes new digests here.
var archiveDigests = map[string]string{
	"linux-amd64":        "646f3269075d1a23904127374e3cdbcef96beb32979fedee25d835877400fcbe",
	"linux-arm64v8":      "e02f27ff50ff2d90b6541d54f3f108505aacd84ea53c2890e976a684bfea2752",
	"linux-amd64-alpine": "7122386c7f7a089568f05720ada63448093d4065abbc0a89e6dc660851a53e3c",
	"darwin-amd64":       "fb70f783928e77c3d6ef5ca8ed644f1ac502f740fcfc032a375c8347820f2bdd",
	"darwin-arm64v8":     "e9d3398e10c2ec926395498b03e75ad1a24eeaed82895e756a7e173b202cf6de",
}

// archive is one published archive and what must be in it.
type archive struct{ url, digest string }

// platformArchive is the archive for this machine.
func platformArchive() (archive, error) {
	platform := runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "arm64", "arm64v8", 1)
	if _, err := os.Stat("/etc/alpine-release"); err == nil {
		platform += "-alpine"
	}
	digest, known := archiveDigests[platform]
	if !known {
		return archive{}, fmt.Errorf("there are no binaries for %s", platform)
	}
	return archive{fmt.Sprintf(archiveURL, platform, archiveVersion), digest}, nil
}

// Download returns a fetcher that gets PostgreSQL's portable binaries (about
// 15 MB on Linux, 30 on macOS), compares their SHA-256 with the one in this
// source, and keeps them in a folder, so that the second start needs no
// network. progress is called every second with words for people. The folder
// must be reachable for the user that the server will run as.
func Download(folder string, progress func(string)) Fetcher {
	return func(ctx context.Context) (string, error) {
		bin := filepath.Join(folder, archiveVersion, "bin")
		if complete(bin) {
			return bin, nil
		}
		from, err := platformArchive()
		if err != nil {
			return "", unfetched(err)
		}
		return bin, from.install(ctx, filepath.Dir(bin), progress)
	}
}

// install downloads and unpacks the archive to a folder, which appears only
// when everything is there: a broken download leaves nothing that the next
// start could use.
func (a archive) install(ctx context.Context, to string, progress func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, downloadWithin)
	defer cancel()
	defer report(progress)()
	packed, err := a.download(ctx)
	if err != nil {
		return unfetched(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(to), "unpacking-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := errors.Join(os.Chmod(work, 0o755), unpack(packed, work)); err != nil {
		return unfetched(err)
	}
	if !complete(filepath.Join(work, "bin")) {
		return unfetched(errors.New("the archive holds no postgres"))
	}
	if err := os.Rename(work, to); err != nil && !complete(filepath.Join(to, "bin")) { // another process was faster: its copy serves
		return err
	}
	return nil
}

// download reads the archive and compares its digest.
func (a archive) download(ctx context.Context) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", a.url, resp.Status)
	}
	packed, err := io.ReadAll(io.LimitReader(resp.Body, maxArchive))
	if err != nil {
		return nil, err
	}
	if digest := sha256.Sum256(packed); hex.EncodeToString(digest[:]) != a.digest {
		return nil, fault.ServiceDown.New("What was fetched as PostgreSQL is another archive than this program expects, and was not used.").
			Suggest("Install PostgreSQL (Debian, Ubuntu: apt install postgresql; macOS: brew install postgresql), or use a running server with --postgres URL.").
			Because(fmt.Errorf("%s has the SHA-256 %x, want %s", a.url, digest, a.digest))
	}
	return packed, nil
}

// unpack extracts the tar.xz that is the one file of the zip.
func unpack(packed []byte, to string) error {
	outer, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return err
	}
	for _, file := range outer.File {
		if !strings.HasSuffix(file.Name, ".txz") {
			continue
		}
		inner, err := file.Open()
		if err != nil {
			return err
		}
		defer inner.Close()
		text, err := xz.NewReader(inner, 0)
		if err != nil {
			return err
		}
		return untar(io.LimitReader(text, maxUnpacked), to)
	}
	return errors.New("the archive holds no tar.xz")
}

// untar writes folders, files and links below a folder; the root keeps any name
// from leading out of it.
func untar(from io.Reader, to string) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	for files := tar.NewReader(from); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := extract(root, header, files); err != nil {
			return fmt.Errorf("unpack %s: %w", header.Name, err)
		}
	}
}

func extract(root *os.Root, header *tar.Header, content io.Reader) error {
	name := filepath.Clean(header.Name)
	mode := header.FileInfo().Mode().Perm()
	if header.Typeflag == tar.TypeDir {
		return root.MkdirAll(name, mode)
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeSymlink:
		return root.Symlink(header.Linkname, name)
	case tar.TypeReg:
		f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		return errors.Join(err, f.Close())
	}
	return fmt.Errorf("an entry of type %q", header.Typeflag)
}

// report calls progress now and every second until its end is called.
func report(progress func(string)) (end func()) {
	progress("Fetching PostgreSQL (once) …")
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for started := time.Now(); ; {
			select {
			case <-done:
				return
			case now := <-tick.C:
				progress(fmt.Sprintf("Fetching PostgreSQL … %d s", int(now.Sub(started).Seconds())))
			}
		}
	}()
	return func() { close(done); <-ended }
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

// complete reports whether a folder has both programs.
func complete(bin string) bool {
	for _, name := range []string{"postgres", "initdb"} {
		if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
			return false
		}
	}
	return true
}

// unfetched words a failure of fetching; a fault has its own words.
func unfetched(cause error) error {
	if f := (*fault.Error)(nil); errors.As(cause, &f) {
		return f
	}
	return fault.ServiceDown.New("PostgreSQL is not installed here and could not be fetched.").
		Suggest("Connect to the internet and try again, or install it (Debian, Ubuntu: apt install postgresql; macOS: brew install postgresql), or use a running server with --postgres URL.").
		Because(cause)
}
