"""requests_oauth2client."""

import json

from requests_oauth2client import (
    DeviceAuthorizationPoolingJob,
    OAuth2Client,
    OAuth2ClientCredentialsAuth,
)
import requests

from support import check, discovered, env, same, visit

LIBRARY = "requests_oauth2client 1.8.0"
SCOPE = "openid email notes:read offline_access"


def new_client(client="WEB", **options):
    if client == "KEY":
        proof = {"private_key": json.loads(env["KEY_JWK"])}
    elif client == "PUBLIC":
        proof = {}
    else:
        proof = {"client_secret": env[f"{client}_SECRET"]}
    # `testing` permits an http issuer.
    return OAuth2Client.from_discovery_endpoint(
        issuer=env["ISSUER"],
        client_id=env[f"{client}_ID"],
        redirect_uri=env["REDIRECT_URI"],
        testing=True,
        **proof,
        **options,
    )


def login(client, push=False, scope=SCOPE):
    request = client.authorization_request(scope=scope)
    url = client.pushed_authorization_request(request).uri if push else request.uri
    response = request.validate_callback(visit(url))
    return client.authorization_code(response)


def code():
    client = new_client()
    same(client.userinfo(login(client))["email"], env["USER_EMAIL"])


def refresh():
    client = new_client()
    client.refresh_token(login(client))


def client_credentials():
    auth = OAuth2ClientCredentialsAuth(new_client(), scope="notes:read")
    same(requests.get(env["ISSUER"] + "/api/notes", auth=auth).status_code, 200)


def key_everywhere():
    client = new_client("KEY")
    token = login(client, push=True)
    same(client.introspect_token(token)["active"], True)
    token = client.refresh_token(token)
    same(client.revoke_refresh_token(token), True)


def device():
    # The library does not read this endpoint from the discovery document.
    endpoint = discovered(env["ISSUER"])["device_authorization_endpoint"]
    client = new_client("PUBLIC", device_authorization_endpoint=endpoint)
    codes = client.authorize_device(scope=SCOPE)
    visit(codes.verification_uri_complete)
    job = DeviceAuthorizationPoolingJob(client, codes)
    token = None
    while token is None:
        token = job()
    same(requests.get(env["ISSUER"] + "/api/notes", auth=token).status_code, 200)


def dpop():
    client = new_client(dpop_bound_access_tokens=True)
    # With an ID token, this version of the library fails to copy its own DPoPToken.
    token = login(client, push=True, scope="notes:read offline_access")
    same(token.token_type, "DPoP")
    same(requests.get(env["ISSUER"] + "/api/notes", auth=token).status_code, 200)
    client.refresh_token(token)


def exchange():
    client = new_client()
    client.token_exchange(subject_token=login(client), scope="notes:read")


def introspection():
    token = login(new_client())
    same(new_client("API").introspect_token(str(token))["active"], True)


def main():
    check(LIBRARY, "discovery, code with PKCE, ID token, userinfo", code)
    check(LIBRARY, "code, client_secret_post", lambda: login(new_client("POST")))
    check(LIBRARY, "code, public client", lambda: login(new_client("PUBLIC")))
    check(LIBRARY, "pushed request", lambda: login(new_client(), push=True))
    check(LIBRARY, "refresh", refresh)
    check(LIBRARY, "client credentials", client_credentials)
    check(LIBRARY, "private_key_jwt: pushed request, code, introspection, refresh, revocation", key_everywhere)
    check(LIBRARY, "device, public client", device)
    check(LIBRARY, "DPoP: pushed request, code, API, refresh", dpop)
    check(LIBRARY, "token exchange", exchange)
    check(LIBRARY, "introspection by a resource server", introspection)
