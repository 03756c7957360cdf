package main

import (
	"math"
	"strings"

	"github.com/anishathalye/porcupine"
)

// An Operation is one request with its response. Labels such as R3 stand for the values of codes, tokens and secrets.
type Operation struct {
	Do string `json:"do"`
	// The authorization that the operation concerns: the label of its code. Empty for an operation on the user or the
	// client, which concerns all authorizations.
	Of string `json:"of,omitempty"`
	// The times of the invocation and of the response, in microseconds of one monotonic clock.
	Call   int64 `json:"call"`
	Return int64 `json:"return"`
	// `ok`, `refused`, `unauthenticated` (401 of the token endpoint), or `unknown` without a response.
	Answer string `json:"answer"`
	// What was presented: the secret of the client, a token, a session.
	Secret  string `json:"secret,omitempty"`
	Token   string `json:"token,omitempty"`
	Session string `json:"session,omitempty"`
	// What the response contained.
	Access    string `json:"access,omitempty"`
	Refresh   string `json:"refresh,omitempty"`
	NewSecret string `json:"newSecret,omitempty"`
	// Which node received the request, and why the request was refused, for people.
	Node int    `json:"node"`
	Why  string `json:"why,omitempty"`
}

// lost is the label of a value in a response that nobody received. No request can present it.
const lost = "?"

// never is the return time of an operation without a response. It may take effect at any later time, or never: an
// operation at the end of the history affects no other operation.
const never = math.MaxInt64

type stage int

const (
	notIssued stage = iota
	issued
	redeemed
	revoked
)

// state is what the contract lets users and clients know of one user, one client and one authorization.
type state struct {
	userIsActive    bool
	clientIsEnabled bool
	secret          string
	// The live sessions, each between two commas.
	sessions string
	// The current consent: a number that grows with each new consent. 0 without a consent.
	consent, consentsGiven int

	stage stage
	// The session and the consent to which the code is bound.
	codeSession string
	codeConsent int
	// The current pair of tokens.
	access, refresh string
	// The pair that the last rotation replaced, and the earliest and latest time of this rotation.
	formerAccess, formerRefresh string
	rotatedFrom, rotatedTo      int64
}

// A model has the settings of the server, and the label of the authorization whose history is checked.
type model struct {
	of string
	// The leeway of refresh tokens, in microseconds.
	leeway int64
	// How far the clocks of two processes may differ in a comparison with the leeway, in microseconds.
	tolerance int64
	// Whether the statement that redeems a code or a refresh token also decides whether the user is active and the client
	// is enabled. Otherwise the server may decide this at another moment of the same request.
	strict bool
}

func (m model) porcupine() porcupine.Model {
	nondeterministic := porcupine.NondeterministicModel{
		Init: func() []interface{} {
			return []interface{}{state{userIsActive: true, clientIsEnabled: true, secret: "S0", sessions: ","}}
		},
		Step: func(s, input, _ interface{}) []interface{} {
			next := m.step(s.(state), input.(Operation))
			states := make([]interface{}, len(next))
			for i, one := range next {
				states[i] = one
			}
			return states
		},
	}
	return nondeterministic.ToModel()
}

var impossible []state

func only(s state) []state { return []state{s} }

func when(condition bool, s state) []state {
	if condition {
		return only(s)
	}
	return impossible
}

// step returns the states in which the operation may leave the server, if it gets its answer in the state s.
func (m model) step(s state, o Operation) []state {
	switch o.Do {
	case "activate", "deactivate":
		s.userIsActive = o.Do == "activate"
		return only(s)
	case "enable", "disable":
		s.clientIsEnabled = o.Do == "enable"
		return only(s)
	case "reset":
		s.secret = lost
		if o.Answer == "ok" {
			s.secret = o.NewSecret
		}
		return only(s)
	case "sign in":
		if !s.userIsActive || o.Answer == "refused" {
			return when(!s.userIsActive && o.Answer != "ok", s)
		}
		s.sessions += o.Session + ","
		return only(s)
	case "sign out":
		s.sessions = strings.Replace(s.sessions, ","+o.Session+",", ",", 1)
		return only(s)
	case "grant":
		return only(s.granted())
	case "withdraw":
		s.consent = 0
		if s.stage == redeemed {
			s.stage = revoked
		}
		return only(s)
	case "authorize", "approve":
		return m.authorize(s, o)
	}
	if o.Answer == "unauthenticated" {
		return when(!s.accepts(o), s)
	}
	switch o.Do {
	case "redeem":
		return m.redeem(s, o)
	case "refresh":
		return m.refresh(s, o)
	case "revoke":
		return m.revoke(s, o)
	case "introspect", "check":
		return m.look(s, o)
	case authenticates:
		return when(s.accepts(o), s)
	case isActive:
		return when(s.userIsActive, s)
	case isEnabled:
		return when(s.clientIsEnabled, s)
	case isSignedIn:
		return when(s.userIsActive && s.isAlive(o.Session), s)
	}
	panic("unknown operation " + o.Do)
}

// Decisions that a server makes at a moment of a request before the moment at which the request takes effect.
const (
	authenticates = "authenticates"
	isActive      = "is active"
	isEnabled     = "is enabled"
	isSignedIn    = "is signed in"
)

// decisions returns the operation, and the decisions that preceded a successful response. Each of them must have been
// true at some moment of the request. Their order is not checked.
func (m model) decisions(o Operation) []Operation {
	all := []Operation{o}
	also := func(names ...string) {
		for _, name := range names {
			decision := o
			decision.Do = name
			all = append(all, decision)
		}
	}
	if o.Answer != "ok" {
		return all
	}
	switch o.Do {
	case "redeem", "refresh":
		also(authenticates)
		if !m.strict {
			also(isActive)
		}
	case "revoke", "introspect":
		also(authenticates)
	case "authorize", "approve":
		also(isEnabled, isSignedIn)
	}
	return all
}

// accepts returns whether the client can authenticate itself.
func (s state) accepts(o Operation) bool { return s.clientIsEnabled && s.secret == o.Secret }

func (s state) isAlive(session string) bool { return strings.Contains(s.sessions, ","+session+",") }

func (s state) granted() state {
	if s.consent == 0 {
		s.consentsGiven++
		s.consent = s.consentsGiven
	}
	return s
}

// authorize issues a code. `approve` is the decision on the consent page, so it first stores the consent.
func (m model) authorize(s state, o Operation) []state {
	if o.Do == "approve" {
		if o.Answer == "refused" {
			return only(s)
		}
		s = s.granted()
	}
	if o.Answer == "refused" {
		may := s.clientIsEnabled && s.userIsActive && s.isAlive(o.Session) && s.consent > 0
		return when(!may, s)
	}
	if o.Answer == "ok" && o.Of == m.of {
		s.stage, s.codeSession, s.codeConsent = issued, o.Session, s.consent
	}
	return when(s.consent > 0, s)
}

func (m model) redeem(s state, o Operation) []state {
	if s.stage == redeemed || s.stage == revoked {
		// The code is presented again, so its tokens are revoked.
		s.stage = revoked
		return when(o.Answer != "ok", s)
	}
	may := s.stage == issued && s.isAlive(s.codeSession) && s.consent == s.codeConsent
	if o.Answer == "refused" {
		return when(!may || !s.userIsActive, s)
	}
	if !may || !m.permits(s) {
		return when(o.Answer == "unknown", s)
	}
	s.stage, s.access, s.refresh = redeemed, o.accessOrLost(), o.refreshOrLost()
	return only(s)
}

// permits returns whether a code or a refresh token can be redeemed in the state s.
func (m model) permits(s state) bool {
	return !m.strict || (s.userIsActive && s.clientIsEnabled)
}

func (m model) refresh(s state, o Operation) []state {
	if s.stage != redeemed {
		return when(o.Answer != "ok", s)
	}
	ended := s
	ended.stage = revoked
	mayRefuse := !s.userIsActive || !s.clientIsEnabled
	switch o.Token {
	case s.refresh:
		if o.Answer == "refused" {
			return when(mayRefuse, s)
		}
		if !m.permits(s) {
			return when(o.Answer == "unknown", s)
		}
		s.formerAccess, s.formerRefresh = s.access, s.refresh
		s.access, s.refresh = o.accessOrLost(), o.refreshOrLost()
		s.rotatedFrom, s.rotatedTo = o.Call, o.Return
		return only(s)
	case s.formerRefresh:
		var next []state
		if m.mayBeWithin(s, o) {
			switch o.Answer {
			case "ok":
				if m.permits(s) {
					next = s.repeated(o)
				}
			case "refused":
				next = when(mayRefuse, s)
			default:
				next = only(s)
			}
		}
		if m.mayBeAfter(s, o) && o.Answer != "ok" {
			next = append(next, ended)
		}
		return next
	}
	if o.Answer == "ok" {
		return impossible
	}
	// The successor of the token was redeemed, so the token is reused.
	return only(ended)
}

// repeated returns the state after the response of the last rotation was sent again.
func (s state) repeated(o Operation) []state {
	if s.refresh == lost {
		s.access, s.refresh = o.Access, o.Refresh
	}
	return when(s.access == o.Access && s.refresh == o.Refresh, s)
}

// revoke is a revocation by the client (RFC 7009). A token that is not valid is no error.
func (m model) revoke(s state, o Operation) []state {
	if o.Answer == "refused" {
		return impossible
	}
	if s.stage != redeemed {
		return only(s)
	}
	ended := s
	ended.stage = revoked
	if o.Token == s.formerAccess {
		// The new access token remains valid. However, a rotation during the revocation may not save it: the client
		// revoked a token that was current when the request arrived.
		s.formerAccess = ""
		return []state{s, ended}
	}
	if o.isAccess() && o.Token != s.access {
		return only(s)
	}
	return only(ended)
}

// look checks whether a token is valid, at a protected resource or by introspection.
func (m model) look(s state, o Operation) []state {
	isUsable := s.stage == redeemed && s.userIsActive && s.clientIsEnabled
	isCurrent := o.Token == s.access || o.Token == s.refresh
	isFormer := o.Token == s.formerAccess
	if o.Answer == "ok" {
		return when(isUsable && (isCurrent || (isFormer && m.mayBeWithin(s, o))), s)
	}
	return when(!isUsable || !(isCurrent || isFormer) || (isFormer && m.mayBeAfter(s, o)), s)
}

// mayBeWithin returns whether the operation may have read the clock before the leeway of the last rotation ended.
func (m model) mayBeWithin(s state, o Operation) bool {
	return m.leeway > 0 && o.Call-s.rotatedTo < m.leeway+m.tolerance
}

// mayBeAfter returns whether the operation may have read the clock after the leeway of the last rotation ended.
func (m model) mayBeAfter(s state, o Operation) bool {
	return m.leeway == 0 || o.Return-s.rotatedFrom >= m.leeway-m.tolerance
}

func (o Operation) isAccess() bool { return strings.HasPrefix(o.Token, "A") }

func (o Operation) accessOrLost() string {
	if o.Answer == "ok" {
		return o.Access
	}
	return lost
}

func (o Operation) refreshOrLost() string {
	if o.Answer == "ok" {
		return o.Refresh
	}
	return lost
}
