package main

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

func mcpSdk() {
	const library = "modelcontextprotocol/go-sdk v1.8.0"
	tools := func(ctx context.Context, handler auth.OAuthHandler) error {
		client := mcp.NewClient(&mcp.Implementation{Name: "assistant", Version: "1.0.0"}, nil)
		session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
			Endpoint: env("MCP_URL"), OAuthHandler: handler, DisableStandaloneSSE: true,
		}, nil)
		if err != nil {
			return err
		}
		defer session.Close()
		list, err := session.ListTools(ctx, nil)
		if err != nil {
			return err
		}
		if len(list.Tools) == 0 {
			return errors.New("there are no tools")
		}
		return nil
	}
	fetcher := func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		arrived, err := visit(args.URL)
		if err != nil {
			return nil, err
		}
		return &auth.AuthorizationResult{Code: arrived.Get("code"), State: arrived.Get("state"), Iss: arrived.Get("iss")}, nil
	}
	login := func(ctx context.Context, config *auth.AuthorizationCodeHandlerConfig) error {
		config.RedirectURL = env("REDIRECT_URI")
		config.AuthorizationCodeFetcher = fetcher
		config.RequestRefreshToken = true
		handler, err := auth.NewAuthorizationCodeHandler(config)
		if err != nil {
			return err
		}
		return tools(ctx, handler)
	}
	credentials := &oauthex.ClientCredentials{
		ClientID:         env("WEB_ID"),
		ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: env("WEB_SECRET")},
	}
	check(library, "login with dynamic registration", func(ctx context.Context) error {
		return login(ctx, &auth.AuthorizationCodeHandlerConfig{
			DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
				Metadata: &oauthex.ClientRegistrationMetadata{
					ClientName:   "Assistant",
					RedirectURIs: []string{env("REDIRECT_URI")},
					GrantTypes:   []string{"authorization_code", "refresh_token"},
				},
			},
		})
	})
	check(library, "login of a registered client", func(ctx context.Context) error {
		return login(ctx, &auth.AuthorizationCodeHandlerConfig{PreregisteredClient: credentials})
	})
	check(library, "refresh of a stored token", func(ctx context.Context) error {
		var client *oauth2.Config
		var stored *oauth2.Token
		keep := func(ctx context.Context, config *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			client, stored = config, token
			return config.TokenSource(ctx, token), nil
		}
		config := &auth.AuthorizationCodeHandlerConfig{PreregisteredClient: credentials, NewTokenSource: keep}
		if err := login(ctx, config); err != nil {
			return err
		}
		expired := *stored
		expired.Expiry = time.Now().Add(-time.Hour)
		source := client.TokenSource(ctx, &expired)
		handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
			PreregisteredClient: credentials,
			RedirectURL:         env("REDIRECT_URI"),
			InitialTokenSource:  source,
			AuthorizationCodeFetcher: func(context.Context, *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
				return nil, errors.New("the client asks for another login")
			},
		})
		if err != nil {
			return err
		}
		if err := tools(ctx, handler); err != nil {
			return err
		}
		renewed, err := source.Token()
		if err != nil {
			return err
		}
		if renewed.AccessToken == stored.AccessToken {
			return errors.New("the access token is the same")
		}
		return nil
	})
	check(library, "client credentials", func(ctx context.Context) error {
		credentials := &oauthex.ClientCredentials{
			ClientID:         env("MACHINE_ID"),
			ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: env("MACHINE_SECRET")},
		}
		handler, err := extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{Credentials: credentials})
		if err != nil {
			return err
		}
		return tools(ctx, handler)
	})
}
