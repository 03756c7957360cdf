package main

import (
	"context"
	"errors"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

func xOauth2() {
	const library = "golang.org/x/oauth2 v0.38.0"
	endpoint := oauth2.Endpoint{
		AuthURL:       env("ISSUER") + "/oauth/authorize",
		TokenURL:      env("ISSUER") + "/oauth/token",
		DeviceAuthURL: env("ISSUER") + "/oauth/device_authorization",
	}
	config := func(client string) *oauth2.Config {
		return &oauth2.Config{
			ClientID:     env(client + "_ID"),
			ClientSecret: env(client + "_SECRET"),
			Endpoint:     endpoint,
			RedirectURL:  env("REDIRECT_URI"),
			Scopes:       []string{"notes:read", "offline_access"},
		}
	}
	exchange := func(ctx context.Context, config *oauth2.Config) (*oauth2.Token, error) {
		verifier := oauth2.GenerateVerifier()
		code, err := codeAt(config.AuthCodeURL("state", oauth2.AccessTypeOffline, oauth2.S256ChallengeOption(verifier)))
		if err != nil {
			return nil, err
		}
		return config.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	}
	for _, client := range []string{"WEB", "POST"} {
		check(library, "code with PKCE, "+client, func(ctx context.Context) error {
			token, err := exchange(ctx, config(client))
			if err != nil {
				return err
			}
			return use(config(client).Client(ctx, token), env("ISSUER"))
		})
	}
	check(library, "code with PKCE, public client", func(ctx context.Context) error {
		public := config("PUBLIC")
		public.ClientSecret = ""
		_, err := exchange(ctx, public)
		return err
	})
	check(library, "refresh", func(ctx context.Context) error {
		web := config("WEB")
		token, err := exchange(ctx, web)
		if err != nil {
			return err
		}
		first := token.AccessToken
		token.Expiry = time.Now().Add(-time.Hour)
		again, err := web.TokenSource(ctx, token).Token()
		if err != nil {
			return err
		}
		if again.AccessToken == first {
			return errors.New("the access token is the same")
		}
		return use(web.Client(ctx, again), env("ISSUER"))
	})
	check(library, "client credentials", func(ctx context.Context) error {
		machine := clientcredentials.Config{
			ClientID:     env("WEB_ID"),
			ClientSecret: env("WEB_SECRET"),
			TokenURL:     endpoint.TokenURL,
			Scopes:       []string{"notes:read"},
		}
		return use(machine.Client(ctx), env("ISSUER"))
	})
	check(library, "device, public client", func(ctx context.Context) error {
		public := config("PUBLIC")
		public.ClientSecret = ""
		codes, err := public.DeviceAuth(ctx)
		if err != nil {
			return err
		}
		if _, err := visit(codes.VerificationURIComplete); err != nil {
			return err
		}
		token, err := public.DeviceAccessToken(ctx, codes)
		if err != nil {
			return err
		}
		return use(public.Client(ctx, token), env("ISSUER"))
	})
}
