package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/zitadel/oidc/v3/pkg/client/rp"
	"github.com/zitadel/oidc/v3/pkg/client/rs"
	"github.com/zitadel/oidc/v3/pkg/client/tokenexchange"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"golang.org/x/oauth2"
)

type idTokens = *oidc.Tokens[*oidc.IDTokenClaims]

func zitadel() {
	const library = "zitadel/oidc v3.51.17"
	scopes := []string{"openid", "email", "notes:read", "offline_access"}
	party := func(ctx context.Context, client string, scopes []string, options ...rp.Option) (rp.RelyingParty, error) {
		secret := env(client + "_SECRET")
		if client == "PUBLIC" || client == "KEY" {
			secret = ""
		}
		return rp.NewRelyingPartyOIDC(ctx, env("ISSUER"), env(client+"_ID"), secret, env("REDIRECT_URI"), scopes, options...)
	}
	withKey := rp.WithJWTProfile(rp.SignerFromKeyAndKeyID([]byte(env("KEY_PEM")), env("KEY_KID")))
	exchange := func(ctx context.Context, party rp.RelyingParty, options ...rp.CodeExchangeOpt) (idTokens, error) {
		verifier := oauth2.GenerateVerifier()
		address := rp.AuthURL("state", party, rp.WithCodeChallenge(oauth2.S256ChallengeFromVerifier(verifier)))
		code, err := codeAt(address)
		if err != nil {
			return nil, err
		}
		return rp.CodeExchange[*oidc.IDTokenClaims](ctx, code, party, append(options, rp.WithCodeVerifier(verifier))...)
	}
	login := func(ctx context.Context, client string, options ...rp.Option) (idTokens, rp.RelyingParty, error) {
		relying, err := party(ctx, client, scopes, options...)
		if err != nil {
			return nil, nil, err
		}
		tokens, err := exchange(ctx, relying)
		return tokens, relying, err
	}
	check(library, "discovery, code with PKCE, ID token, userinfo", func(ctx context.Context) error {
		tokens, relying, err := login(ctx, "WEB")
		if err != nil {
			return err
		}
		info, err := rp.Userinfo[*oidc.UserInfo](ctx, tokens.AccessToken, tokens.TokenType, tokens.IDTokenClaims.Subject, relying)
		if err != nil {
			return err
		}
		if info.Email != env("USER_EMAIL") {
			return fmt.Errorf("the e-mail address is %q", info.Email)
		}
		return nil
	})
	check(library, "refresh", func(ctx context.Context) error {
		tokens, relying, err := login(ctx, "WEB")
		if err != nil {
			return err
		}
		_, err = rp.RefreshTokens[*oidc.IDTokenClaims](ctx, relying, tokens.RefreshToken, "", "")
		return err
	})
	check(library, "refresh of a public client", func(ctx context.Context) error {
		tokens, relying, err := login(ctx, "PUBLIC")
		if err != nil {
			return err
		}
		_, err = rp.RefreshTokens[*oidc.IDTokenClaims](ctx, relying, tokens.RefreshToken, "", "")
		return err
	})
	check(library, "private_key_jwt with its assertion of an hour, and refresh", func(ctx context.Context) error {
		relying, err := party(ctx, "KEY", scopes, withKey)
		if err != nil {
			return err
		}
		// The library creates the assertion for the code only in its handler, whose audience is the issuer.
		assertion, err := profileAssertion(relying)
		if err != nil {
			return err
		}
		tokens, err := exchange(ctx, relying, rp.WithClientAssertionJWT(assertion))
		if err != nil {
			return err
		}
		_, err = rp.RefreshTokens[*oidc.IDTokenClaims](ctx, relying, tokens.RefreshToken, "", "")
		return err
	})
	check(library, "client credentials", func(ctx context.Context) error {
		relying, err := party(ctx, "WEB", []string{"notes:read"})
		if err != nil {
			return err
		}
		token, err := rp.ClientCredentials(ctx, relying, url.Values{})
		if err != nil {
			return err
		}
		return use(oauth2.NewClient(ctx, oauth2.StaticTokenSource(token)), env("ISSUER"))
	})
	for _, client := range []string{"PUBLIC", "POST"} {
		check(library, "device, "+client, func(ctx context.Context) error {
			relying, err := party(ctx, client, scopes)
			if err != nil {
				return err
			}
			codes, err := rp.DeviceAuthorization(ctx, scopes, relying, nil)
			if err != nil {
				return err
			}
			if _, err := visit(codes.VerificationURIComplete); err != nil {
				return err
			}
			_, err = rp.DeviceAccessToken(ctx, codes.DeviceCode, time.Duration(codes.Interval)*time.Second, relying)
			return err
		})
	}
	check(library, "device, private_key_jwt", func(ctx context.Context) error {
		relying, err := party(ctx, "KEY", scopes, withKey)
		if err != nil {
			return err
		}
		codes, err := rp.DeviceAuthorization(ctx, scopes, relying, nil)
		if err != nil {
			return err
		}
		if _, err := visit(codes.VerificationURIComplete); err != nil {
			return err
		}
		_, err = rp.DeviceAccessToken(ctx, codes.DeviceCode, time.Duration(codes.Interval)*time.Second, relying)
		return err
	})
	introspect := func(ctx context.Context, server rs.ResourceServer, token string) error {
		response, err := rs.Introspect[*oidc.IntrospectionResponse](ctx, server, token)
		if err != nil {
			return err
		}
		if !response.Active {
			return errors.New("the token is inactive")
		}
		return nil
	}
	check(library, "introspection with a secret", func(ctx context.Context) error {
		tokens, _, err := login(ctx, "WEB")
		if err != nil {
			return err
		}
		server, err := rs.NewResourceServerClientCredentials(ctx, env("ISSUER"), env("API_ID"), env("API_SECRET"))
		if err != nil {
			return err
		}
		return introspect(ctx, server, tokens.AccessToken)
	})
	check(library, "introspection with private_key_jwt", func(ctx context.Context) error {
		server, err := rs.NewResourceServerJWTProfile(ctx, env("ISSUER"), env("KEY_ID"), env("KEY_KID"), []byte(env("KEY_PEM")))
		if err != nil {
			return err
		}
		relying, err := party(ctx, "KEY", scopes, withKey)
		if err != nil {
			return err
		}
		assertion, err := profileAssertion(relying)
		if err != nil {
			return err
		}
		tokens, err := exchange(ctx, relying, rp.WithClientAssertionJWT(assertion))
		if err != nil {
			return err
		}
		return introspect(ctx, server, tokens.AccessToken)
	})
	check(library, "revocation", func(ctx context.Context) error {
		tokens, relying, err := login(ctx, "WEB")
		if err != nil {
			return err
		}
		if err := rp.RevokeToken(ctx, relying, tokens.RefreshToken, "refresh_token"); err != nil {
			return err
		}
		if use(oauth2.NewClient(ctx, oauth2.StaticTokenSource(tokens.Token)), env("ISSUER")) == nil {
			return errors.New("the access token is still valid")
		}
		return nil
	})
	check(library, "end session", func(ctx context.Context) error {
		tokens, relying, err := login(ctx, "WEB")
		if err != nil {
			return err
		}
		target, err := rp.EndSession(ctx, relying, tokens.IDToken, env("REDIRECT_URI"), "state", "", nil)
		if err != nil {
			return err
		}
		// The library posts the request, and returns the first redirect, which the browser follows.
		return redirects(target.String(), env("REDIRECT_URI")+"?state=state")
	})
	check(library, "token exchange", func(ctx context.Context) error {
		tokens, _, err := login(ctx, "WEB")
		if err != nil {
			return err
		}
		exchanger, err := tokenexchange.NewTokenExchangerClientCredentials(ctx, env("ISSUER"), env("WEB_ID"), env("WEB_SECRET"))
		if err != nil {
			return err
		}
		_, err = tokenexchange.ExchangeToken(ctx, exchanger, tokens.AccessToken, oidc.AccessTokenType, "", "", nil, nil,
			[]string{"notes:read"}, oidc.AccessTokenType)
		return err
	})
}
