// Package javadeps keeps the Java engines that tests run: fetched with Maven, once
// for a checkout, under .cache at its root. Start at [Keep].
package javadeps

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"countersign.dev/internal/testkit/cached"
)

// Keep returns the folder of that name, as [cached.Keep] does. Without a Java
// runtime it is an error.
func Keep(name, mark string, says []byte, build func(folder string) error) (folder string, err error) {
	if _, err := exec.LookPath("java"); err != nil {
		return "", errors.New("there is no Java runtime (openjdk-17-jre-headless)")
	}
	return cached.Keep(name, mark, says, build)
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
