package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

func goOidc() {
	const library = "coreos/go-oidc v3.21.0"
	login := func(ctx context.Context, prefix string) (*oidc.Provider, *oauth2.Config, *oauth2.Token, error) {
		provider, err := oidc.NewProvider(ctx, env(prefix+"ISSUER"))
		if err != nil {
			return nil, nil, nil, err
		}
		config := &oauth2.Config{
			ClientID:     env(prefix + "WEB_ID"),
			ClientSecret: env(prefix + "WEB_SECRET"),
			Endpoint:     provider.Endpoint(),
			RedirectURL:  env("REDIRECT_URI"),
			Scopes:       []string{oidc.ScopeOpenID, "profile", "email", oidc.ScopeOfflineAccess},
		}
		verifier := oauth2.GenerateVerifier()
		code, err := codeAt(config.AuthCodeURL("state", oidc.Nonce("nonce-1"), oauth2.S256ChallengeOption(verifier)))
		if err != nil {
			return nil, nil, nil, err
		}
		token, err := config.Exchange(ctx, code, oauth2.VerifierOption(verifier))
		return provider, config, token, err
	}
	check(library, "discovery, code, ID token", func(ctx context.Context) error {
		provider, config, token, err := login(ctx, "")
		if err != nil {
			return err
		}
		raw, _ := token.Extra("id_token").(string)
		idToken, err := provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(ctx, raw)
		if err != nil {
			return err
		}
		if idToken.Nonce != "nonce-1" {
			return fmt.Errorf("the nonce is %q", idToken.Nonce)
		}
		return idToken.VerifyAccessToken(token.AccessToken)
	})
	check(library, "userinfo", func(ctx context.Context) error {
		provider, config, token, err := login(ctx, "")
		if err != nil {
			return err
		}
		info, err := provider.UserInfo(ctx, config.TokenSource(ctx, token))
		if err != nil {
			return err
		}
		if info.Email != env("USER_EMAIL") {
			return fmt.Errorf("the e-mail address is %q", info.Email)
		}
		return nil
	})
	check(library, "refresh with a new ID token", func(ctx context.Context) error {
		provider, config, token, err := login(ctx, "")
		if err != nil {
			return err
		}
		again, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
		if err != nil {
			return err
		}
		raw, ok := again.Extra("id_token").(string)
		if !ok {
			return errors.New("there is no ID token")
		}
		_, err = provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(ctx, raw)
		return err
	})
	check(library, "device with the discovered endpoint", func(ctx context.Context) error {
		provider, err := oidc.NewProvider(ctx, env("ISSUER"))
		if err != nil {
			return err
		}
		config := &oauth2.Config{ClientID: env("PUBLIC_ID"), Endpoint: provider.Endpoint(), Scopes: []string{"notes:read"}}
		codes, err := config.DeviceAuth(ctx)
		if err != nil {
			return err
		}
		if _, err := visit(codes.VerificationURIComplete); err != nil {
			return err
		}
		token, err := config.DeviceAccessToken(ctx, codes)
		if err != nil {
			return err
		}
		return use(config.Client(ctx, token), env("ISSUER"))
	})
	check(library, "JWT access token with the published keys", func(ctx context.Context) error {
		provider, _, token, err := login(ctx, "JWT_")
		if err != nil {
			return err
		}
		_, err = provider.Verifier(&oidc.Config{ClientID: env("JWT_ISSUER")}).Verify(ctx, token.AccessToken)
		return err
	})
}
