package vendor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/fault"
)

// Failure is a request that was not answered. It unwraps to its fault.
type Failure struct {
	Fault *fault.Error
	Retry bool // the same request may succeed later

	Alone   bool          // it is about this request, and says nothing of others
	NoTools bool          // the provider has no tools for this model
	After   time.Duration // the provider asks to wait so long; 0: it does not say
}

func (f *Failure) Error() string { return f.Fault.Error() }

func (f *Failure) Unwrap() error { return f.Fault }

// statusOverloaded is Anthropic's status for a provider without capacity.
const statusOverloaded = 529

// Rejected is the failure of an answer with an error's status. said is the
// provider's own explanation, for the log; the key never appears in it.
func (o Options) Rejected(status int, header http.Header, said string) error {
	cause := o.cause(status, said)
	status = accountStatus(status, said)
	f := &Failure{Fault: o.meaning(status).Because(cause)}
	switch {
	case noTools.MatchString(said):
		f.NoTools = true
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge, status == http.StatusUnprocessableEntity:
		f.Alone = true
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500:
		f.Retry, f.After = true, cmp.Or(retryAfter(header, time.Now()), retryDelay(said))
	}
	return f
}

// What vendors say of keys and accounts under a status that means something else:
// Google of a wrong key with 400, Anthropic of an empty account with 400, and OpenAI of
// one with 429, though another try does not help.
var (
	wrongKey = regexp.MustCompile(`"reason"\s*:\s*"API_KEY_INVALID"`)
	noCredit = regexp.MustCompile(`"(code|type)"\s*:\s*"(insufficient_quota|billing_error)"|credit balance is too low`)
)

// accountStatus is the status that an answer about a key or an account should have.
func accountStatus(status int, said string) int {
	switch {
	case wrongKey.MatchString(said):
		return http.StatusUnauthorized
	case noCredit.MatchString(said):
		return http.StatusPaymentRequired
	}
	return status
}

// noTools matches what servers answer to a request with tools when the model, or
// the way in which it was started, has none: Ollama ("gemma:2b does not support
// tools", github.com/ollama/ollama/issues/6027), vLLM ("\"auto\" tool choice requires
// --enable-auto-tool-choice", docs.vllm.ai/en/latest/features/tool_calling.html) and
// llama.cpp ("tools param requires --jinja flag").
var noTools = regexp.MustCompile(`does not support tools|tool choice requires --enable-auto-tool-choice|tools param requires --jinja`)

// meaning says what a status means for the person, and what to do.
func (o Options) meaning(status int) *fault.Error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		if o.APIKey == "" {
			return fault.ServiceDown.New("The model's provider asks for a key, and none is configured.").Suggest("Set %s.", o.keyName())
		}
		return fault.ServiceDown.New("The model's key is not accepted.").Suggest("Check %s.", o.keyName())
	case http.StatusPaymentRequired:
		return fault.ServiceDown.New("The account at the model's provider has no credit left.").Suggest("Check its plan and its billing there.")
	case http.StatusNotFound:
		return fault.ServiceDown.New("The provider knows no model %q.", o.Model).Suggest("Check the model's name and its address in the configuration.")
	case http.StatusTooManyRequests, statusOverloaded:
		return fault.TooManyRequests.New(fault.TooBusy)
	case http.StatusRequestEntityTooLarge:
		return fault.ServiceDown.New("The question and what it found are too large for this model.").Suggest("Ask for less, or in a new conversation.")
	}
	if status < 500 {
		return fault.ServiceDown.New("The model's provider rejected the request.").Suggest("Ask in a new conversation. If that fails too, the log has the provider's reason.")
	}
	return fault.ServiceDown.New("The model's provider has a failure of its own.").Suggest("Ask again in a moment.")
}

func (o Options) keyName() string {
	if o.KeyName == "" {
		return "the model's api_key"
	}
	return o.KeyName
}

// maxSaid bounds a provider's explanation in the log.
const maxSaid = 500

func (o Options) cause(status int, said string) error {
	return fmt.Errorf("the provider of model %s answered %d: %s", o.Model, status, o.hidden(said))
}

// hidden removes the key from a provider's text, and clips it.
func (o Options) hidden(text string) string {
	if o.APIKey != "" {
		text = strings.ReplaceAll(text, o.APIKey, "***")
	}
	text = strings.Join(strings.Fields(text), " ")
	return text[:min(len(text), maxSaid)]
}

// Failed gives an error of a vendor's client its meaning: a [Failure] that the
// HTTP client found, a page instead of a stream, no connection, or a stream that
// was cut off. The context's own end is returned unchanged.
func (o Options) Failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var known *Failure
	if errors.As(err, &known) {
		return known
	}
	var page *notStream
	if errors.As(err, &page) {
		return &Failure{Fault: fault.ServiceDown.New("The model's address does not answer as a model.").
			Suggest("Check the model's base_url in the configuration.").Because(page)}
	}
	cause := fmt.Errorf("model %s: %s", o.Model, o.hidden(err.Error()))
	return &Failure{Retry: true, Fault: fault.ServiceDown.New("The model's provider cannot be reached, or the connection broke.").Suggest("Ask again in a moment.").Because(cause)}
}

// Garbled is the failure of an answer that the provider itself could not read, for
// its own reason.
func (o Options) Garbled(reason string) error {
	return &Failure{Retry: true, Alone: true, Fault: fault.ServiceDown.New("The model asked for a tool in a form that its provider could not read.").
		Suggest("Ask again, or in other words.").Because(fmt.Errorf("the provider of model %s ended the answer with %s", o.Model, reason))}
}

// retryAfter reads the standard header, in seconds or as a date, and its finer
// form in milliseconds that OpenAI and Anthropic send too.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	after := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(after, 64); err == nil && seconds > 0 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// delayInBody is Google's RetryInfo (google.rpc.RetryInfo) in the details of an
// error.
var delayInBody = regexp.MustCompile(`"retryDelay"\s*:\s*"([0-9.]+s)"`)

func retryDelay(said string) time.Duration {
	if m := delayInBody.FindStringSubmatch(said); m != nil {
		d, _ := time.ParseDuration(m[1]) // digits and s
		return d
	}
	return 0
}

// notStream is an answer of something that is no model, or a redirect.
type notStream struct {
	status int
	kind   string
}

func (e *notStream) Error() string {
	return fmt.Sprintf("status %d with the content type %q instead of a stream of events", e.status, e.kind)
}
