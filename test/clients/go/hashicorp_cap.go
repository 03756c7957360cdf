package main

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/cap/jwt"
	"github.com/hashicorp/cap/oidc"
	"github.com/hashicorp/cap/oidc/clientassertion"
)

func hashicorpCap() {
	const library = "hashicorp/cap v0.15.0"
	login := func(ctx context.Context, prefix, client string, options ...oidc.Option) (*oidc.Tk, *oidc.Provider, error) {
		secret := oidc.ClientSecret(env(prefix + client + "_SECRET"))
		if client == "KEY" {
			secret = ""
		}
		config, err := oidc.NewConfig(env(prefix+"ISSUER"), env(prefix+client+"_ID"), secret,
			[]oidc.Alg{oidc.RS256}, []string{env("REDIRECT_URI")})
		if err != nil {
			return nil, nil, err
		}
		provider, err := oidc.NewProvider(config)
		if err != nil {
			return nil, nil, err
		}
		verifier, err := oidc.NewCodeVerifier()
		if err != nil {
			return nil, nil, err
		}
		options = append(options, oidc.WithPKCE(verifier), oidc.WithScopes("email"))
		request, err := oidc.NewRequest(2*time.Minute, env("REDIRECT_URI"), options...)
		if err != nil {
			return nil, nil, err
		}
		address, err := provider.AuthURL(ctx, request)
		if err != nil {
			return nil, nil, err
		}
		arrived, err := visit(address)
		if err != nil {
			return nil, nil, err
		}
		token, err := provider.Exchange(ctx, request, arrived.Get("state"), arrived.Get("code"))
		return token, provider, err
	}
	check(library, "discovery, code with PKCE, ID token", func(ctx context.Context) error {
		_, _, err := login(ctx, "", "WEB")
		return err
	})
	check(library, "userinfo", func(ctx context.Context) error {
		token, provider, err := login(ctx, "", "WEB")
		if err != nil {
			return err
		}
		var claims, info map[string]any
		if err := token.IDToken().Claims(&claims); err != nil {
			return err
		}
		if err := provider.UserInfo(ctx, token.StaticTokenSource(), claims["sub"].(string), &info); err != nil {
			return err
		}
		if info["email"] != env("USER_EMAIL") {
			return fmt.Errorf("the claims are %v", info)
		}
		return nil
	})
	check(library, "private_key_jwt", func(ctx context.Context) error {
		block, _ := pem.Decode([]byte(env("KEY_PEM")))
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			return err
		}
		key, isRsa := parsed.(*rsa.PrivateKey)
		if !isRsa {
			return errors.New("the key is no RSA key")
		}
		assertion, err := clientassertion.NewJWTWithRSAKey(env("KEY_ID"), []string{env("ISSUER")}, clientassertion.RS256, key,
			clientassertion.WithKeyID(env("KEY_KID")))
		if err != nil {
			return err
		}
		_, _, err = login(ctx, "", "KEY", oidc.WithClientAssertionJWT(assertion))
		return err
	})
	check(library, "JWT access token with the discovered keys", func(ctx context.Context) error {
		token, _, err := login(ctx, "JWT_", "WEB")
		if err != nil {
			return err
		}
		keys, err := jwt.NewOIDCDiscoveryKeySet(ctx, env("JWT_ISSUER"), "")
		if err != nil {
			return err
		}
		validator, err := jwt.NewValidator(keys)
		if err != nil {
			return err
		}
		_, err = validator.Validate(ctx, string(token.AccessToken()), jwt.Expected{
			Issuer: env("JWT_ISSUER"), Audiences: []string{env("JWT_ISSUER")}, SigningAlgorithms: []jwt.Alg{jwt.RS256},
		})
		return err
	})
}
