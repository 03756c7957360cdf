package main

import (
	"time"

	"github.com/zitadel/oidc/v3/pkg/client"
	"github.com/zitadel/oidc/v3/pkg/client/rp"
)

// profileAssertion creates the assertion that the CodeExchangeHandler of zitadel/oidc creates.
func profileAssertion(party rp.RelyingParty) (string, error) {
	return client.SignedJWTProfileAssertion(party.OAuthConfig().ClientID, []string{party.Issuer()}, time.Hour, party.Signer())
}
