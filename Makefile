.PHONY: demo test ci
demo: ; go run ./cmd/countersign demo
test: ; go test ./...
ci:   ; .ci/run
