package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Service is an address that makes embeddings. Its zero value is none.
type Service struct {
	BaseURL string // up to and with /v1
	Model   string
	APIKey  string // empty: none is sent
}

// On reports whether there is a service.
func (s Service) On() bool { return s.BaseURL != "" }

const (
	batchSize  = 64       // texts in one request
	textSize   = 6000     // bytes of each text at most
	answerSize = 64 << 20 // bytes of one answer at most
	callLimit  = time.Minute
)

// errText is the error of a service that answers, and does not take what it was sent.
var errText = errors.New("the service of embeddings does not take the text or the model")

// client is shared by all services: it follows no redirect, which would carry the
// key to another address.
var client = &http.Client{
	Timeout:       callLimit,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Embed returns the vector of each text.
func (s Service) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": s.Model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(s.BaseURL, "/")+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address of the embeddings is not one")
	}
	r.Header.Set("Content-Type", "application/json")
	if s.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+s.APIKey)
	}
	response, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return nil, fmt.Errorf("%w: status %d", errText, response.StatusCode)
	default:
		return nil, fmt.Errorf("the embeddings were answered with status %d", response.StatusCode)
	}
	return read(io.LimitReader(response.Body, answerSize), len(texts))
}

// read reads an answer of n vectors of one length.
func read(r io.Reader, n int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.NewDecoder(r).Decode(&answer); err != nil {
		return nil, fmt.Errorf("the embeddings cannot be read: %w", err)
	}
	all := make([][]float32, n)
	for _, d := range answer.Data {
		if d.Index >= 0 && d.Index < n {
			all[d.Index] = d.Embedding
		}
	}
	for _, v := range all {
		if len(v) == 0 || len(v) != len(all[0]) || len(v) > maxDimension {
			return nil, errors.New("the embeddings are not one vector of the same length for each text")
		}
	}
	return all, nil
}
