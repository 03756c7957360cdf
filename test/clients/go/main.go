// Runs Go client libraries against the server that the environment describes.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

func main() {
	for _, run := range []func(){xOauth2, goOidc, hashicorpCap, zitadel, mcpSdk} {
		run()
	}
}

// check runs one check and prints its result as a line of JSON.
func check(library, name string, run func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	result := map[string]any{"check": name, "ok": true}
	if err := run(ctx); err != nil {
		result["ok"], result["detail"] = false, err.Error()
	}
	name_, _ := json.Marshal(library)
	rest, _ := json.Marshal(result)
	fmt.Printf("{\"library\":%s,%s\n", name_, rest[1:])
}

func env(name string) string { return os.Getenv(name) }

// visit lets the user of the browser agree at the URL. It returns the parameters of the redirect.
func visit(address string) (url.Values, error) {
	response, err := http.Get(env("BROWSER") + "?" + url.Values{"url": {address}}.Encode())
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(string(body))
	}
	arrived, err := url.Parse(string(body))
	if err != nil {
		return nil, err
	}
	if code := arrived.Query().Get("error"); code != "" {
		return nil, fmt.Errorf("%s: %s", code, arrived.Query().Get("error_description"))
	}
	return arrived.Query(), nil
}

// codeAt returns the authorization code for an authorization URL.
func codeAt(address string) (string, error) {
	parameters, err := visit(address)
	if err != nil {
		return "", err
	}
	if parameters.Get("code") == "" {
		return "", fmt.Errorf("no code in %v", parameters)
	}
	return parameters.Get("code"), nil
}

// redirects fails unless one address redirects to another.
func redirects(from, to string) error {
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Get(from)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if location := response.Header.Get("Location"); location != to {
		return fmt.Errorf("the target is %q", location)
	}
	return nil
}

// use calls the REST API with a client that adds the token.
func use(client *http.Client, issuer string) error {
	response, err := client.Get(issuer + "/api/notes")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the API returned %s", response.Status)
	}
	return nil
}
