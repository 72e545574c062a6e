#!/usr/bin/env bash
# Learns words (recall.txt and named.txt of internal/domain/codesearch/vocabulary) from the comments of 83 packages in twelve
# languages, of which none is a corpus of the gold set. Everything is unpacked into a folder; run it from the root.
set -euo pipefail
folder=${1:?name a folder}
own=$PWD
mkdir -p "$folder"/{corpus,py,npm,mvn,deb,rs/src}
cd "$folder"

while read -r module name; do
	cp -r "$(go mod download -json "$module" | sed -n 's/.*"Dir": "\(.*\)",*/\1/p')" "corpus/go-$name"
done <<'LIST'
google.golang.org/grpc@v1.66.2 grpc
github.com/go-git/go-git/v5@v5.16.3 go-git
github.com/jackc/pgx/v5@v5.12.0 pgx
go.mongodb.org/mongo-driver/v2@v2.9.3 mongo-driver
golang.org/x/tools@v0.50.0 tools
google.golang.org/protobuf@v1.36.12 protobuf
golang.org/x/net@v0.60.0 net
go.opentelemetry.io/otel@v1.35.0 otel
golang.org/x/text@v0.42.0 text
golang.org/x/crypto@v0.57.0 crypto
LIST
chmod -R u+w corpus

pip -q download --no-deps -d py django==5.2.19 sqlalchemy==2.1.9 tornado==6.6.1 twisted==26.10.0 scikit-learn==1.9.1 \
	werkzeug==3.1.9 click==8.5.1 jinja2==3.1.6 pytest==9.2.0 paramiko==5.1.0
for wheel in py/*.whl; do unzip -qo "$wheel" -d "corpus/py-$(basename "$wheel" | cut -d- -f1)"; done

(cd npm && npm pack --silent express@5.3.0 vue-router@5.5.1 @vue/runtime-core@3.5.45 typeorm@1.1.1 mongoose@9.12.1 @nestjs/core@12.5.1 \
	@reduxjs/toolkit@2.15.0 mocha@12.0.3 commander@14.0.3 pino@10.4.0 undici@7.30.2 socket.io@4.8.4 sequelize@6.37.8 prettier@3.10.1 \
	rollup@4.68.8 axios@1.21.1 handlebars@4.7.10 ws@8.23.0 ajv@8.20.0 typescript@3.9.10 lodash@4.18.1 vuex@4.1.0 rxjs@7.8.2 \
	webpack@5.113.0 jest-worker@30.5.1 @angular/core@21.2.26 koa@3.3.0 graphql@16.15.0 >/dev/null)
for package in npm/*.tgz; do
	to="corpus/js-$(basename "$package" | sed 's/-[0-9].*//')"
	mkdir -p "$to" && tar xzf "$package" -C "$to" --strip-components=1
done

for artifact in io.netty:netty-handler:4.1.112.Final io.netty:netty-codec-http:4.1.112.Final org.springframework:spring-core:6.1.12 \
	org.springframework:spring-web:6.1.12 com.fasterxml.jackson.core:jackson-databind:2.17.2 org.apache.commons:commons-lang3:3.14.0 \
	org.apache.kafka:kafka-clients:3.8.0 org.apache.lucene:lucene-core:9.11.1 org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:1.8.1 \
	io.projectreactor:reactor-core:3.6.9 org.typelevel:cats-core_2.13:2.12.0; do
	mvn -q -B dependency:copy -Dartifact="$artifact:jar:sources" -DoutputDirectory=mvn
done
for jar in mvn/*.jar; do unzip -qo "$jar" -d "corpus/jv-$(basename "$jar" | sed 's/-[0-9].*//')"; done

(cd deb && apt-get -q download php-symfony-http-kernel php-symfony-dependency-injection php-doctrine-dbal php-guzzlehttp-guzzle \
	ruby-activerecord ruby-actionpack ruby-sidekiq ruby-rspec-core ruby-faraday) # Debian 12
for package in deb/*.deb; do dpkg -x "$package" "corpus/rp-$(basename "$package" | cut -d_ -f1)"; done

cat >rs/Cargo.toml <<'TOML'
[package]
name = "learned"
version = "0.1.0"
edition = "2021"
[dependencies]
axum = "=0.7.9"
clap_builder = "=4.6.7"
crossbeam-channel = "=0.5.17"
crossbeam-epoch = "=0.9.21"
hyper-util = "=0.1.21"
librocksdb-sys = "=0.16.0"
openssl-src = "=300.6.1"
rayon = "=1.12.0"
regex = "=1.13.2"
regex-automata = "=0.4.19"
reqwest = { version = "=0.12.28", default-features = false }
rustls = { version = "=0.23.46", default-features = false, features = ["std", "tls12"] }
serde_json = "=1.0.154"
tokio = "=1.54.1"
tracing-subscriber = "=0.3.23"
TOML
touch rs/src/lib.rs
(cd rs && cargo vendor ../vendor >/dev/null 2>&1)
for crate in axum clap_builder crossbeam-channel crossbeam-epoch hyper-util rayon regex regex-automata reqwest rustls serde_json tokio tracing-subscriber; do
	cp -r "vendor/$crate" "corpus/rs-$crate"
done
cp -r vendor/openssl-src/openssl corpus/c-openssl
cp -r vendor/librocksdb-sys/rocksdb corpus/cc-rocksdb

cd "$own"
folders=()
for corpus in "$folder"/corpus/*; do folders+=("$(basename "$corpus")=$corpus"); done
go run ./bench/codesearch -learn=internal/domain/codesearch/vocabulary "${folders[@]}"
