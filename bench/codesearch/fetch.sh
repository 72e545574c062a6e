#!/usr/bin/env bash
# Unpacks the corpora in other languages, at pinned versions, into a folder: java
# (Guava's sources, by Maven) and js (ESLint's package, by npm).
set -euo pipefail
folder=${1:?name a folder}
mkdir -p "$folder/java" "$folder/js"
mvn -q -B dependency:copy -Dartifact=com.google.guava:guava:33.3.1-jre:jar:sources -DoutputDirectory="$folder"
(cd "$folder/java" && unzip -qo ../guava-33.3.1-jre-sources.jar)
(cd "$folder" && npm pack --silent eslint@8.57.0 >/dev/null && tar xzf eslint-8.57.0.tgz -C js --strip-components=1)
