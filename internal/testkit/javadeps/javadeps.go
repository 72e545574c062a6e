// Package javadeps keeps the Java engines that tests run: fetched with Maven, once
// for a checkout, under .cache at its root. Start at [Keep].
package javadeps

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Keep returns the folder of that name. It makes it with build unless there is one
// whose mark, a file that build writes, has the wanted content. Other test
// binaries that want it wait meanwhile.
func Keep(name, mark string, says []byte, build func(folder string) error) (folder string, err error) {
	if _, err := exec.LookPath("java"); err != nil {
		return "", errors.New("there is no Java runtime (openjdk-17-jre-headless)")
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	folder = filepath.Join(root, ".cache", name)
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(root, ".cache", "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if kept, err := os.ReadFile(filepath.Join(folder, mark)); err == nil && bytes.Equal(kept, says) {
		return folder, nil
	}
	return folder, replace(folder, build)
}

// replace makes the folder anew, or leaves it as it is.
func replace(folder string, build func(folder string) error) error {
	draft, err := os.MkdirTemp(filepath.Dir(folder), "jars-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(draft) }()
	if err := build(draft); err != nil {
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return os.Rename(draft, folder)
}

// Fetch copies what a Maven project depends on into a folder.
func Fetch(folder string, project []byte) error {
	if _, err := exec.LookPath("mvn"); err != nil {
		return errors.New("there is no Maven (maven) to fetch it with")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	description := filepath.Join(folder, "pom.xml")
	if err := os.WriteFile(description, project, 0o644); err != nil {
		return err
	}
	return patiently(func() error { return maven(folder, description) })
}

// patiently tries three times: a repository on the network may be busy.
func patiently(fetch func() error) (err error) {
	for range 3 {
		if err = fetch(); err == nil {
			return nil
		}
	}
	return err
}

func maven(folder, description string) error {
	command := exec.Command("mvn", "-B", "-q", "-f", description, "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory="+folder)
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("fetching jars: %w: %s", err, strings.TrimSpace(string(said)))
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func moduleRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; !exists(filepath.Join(folder, "go.mod")); folder = filepath.Dir(folder) {
		if folder == filepath.Dir(folder) {
			return "", errors.New("there is no go.mod above this folder")
		}
	}
	return folder, nil
}
