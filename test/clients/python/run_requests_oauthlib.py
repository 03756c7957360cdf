"""requests-oauthlib, with the flows of its documentation."""

import requests
from oauthlib.oauth2 import BackendApplicationClient, DeviceClient
from requests_oauthlib import OAuth2Session

from support import check, discovered, env, same, visit

LIBRARY = "requests-oauthlib 2.0.0"
FORM = {"content-type": "application/x-www-form-urlencoded"}
SCOPE = ["openid", "email", "notes:read", "offline_access"]


def login(client="WEB", **options):
    server = discovered(env["ISSUER"])
    secret = {} if client == "PUBLIC" else {"client_secret": env[f"{client}_SECRET"]}
    session = OAuth2Session(
        env[f"{client}_ID"], redirect_uri=env["REDIRECT_URI"], scope=SCOPE, pkce="S256", **options
    )
    url, _ = session.authorization_url(server["authorization_endpoint"])
    # oauthlib refuses an http redirect unless OAUTHLIB_INSECURE_TRANSPORT is set.
    include = {"include_client_id": True} if client != "WEB" else {}
    token = session.fetch_token(
        server["token_endpoint"], authorization_response=visit(url), **secret, **include
    )
    return session, server, token


def code():
    session, server, _ = login()
    same(session.get(server["userinfo_endpoint"]).json()["email"], env["USER_EMAIL"])


def refresh():
    session, server, token = login()
    session.refresh_token(
        server["token_endpoint"], client_id=env["WEB_ID"], client_secret=env["WEB_SECRET"]
    )
    same(session.get(env["ISSUER"] + "/api/notes").status_code, 200)
    same(session.token["refresh_token"] != token["refresh_token"], True)


def automatic_refresh():
    server = discovered(env["ISSUER"])
    saved = []
    extra = {"client_id": env["WEB_ID"], "client_secret": env["WEB_SECRET"]}
    session, _, token = login(
        auto_refresh_url=server["token_endpoint"], auto_refresh_kwargs=extra, token_updater=saved.append
    )
    session.token = {**token, "expires_in": -30, "expires_at": 1}
    same(session.get(env["ISSUER"] + "/api/notes").status_code, 200)
    same(len(saved), 1)


def client_credentials():
    client = BackendApplicationClient(client_id=env["WEB_ID"], scope=["notes:read"])
    session = OAuth2Session(client=client)
    session.fetch_token(
        discovered(env["ISSUER"])["token_endpoint"],
        client_id=env["WEB_ID"],
        client_secret=env["WEB_SECRET"],
    )
    same(session.get(env["ISSUER"] + "/api/notes").status_code, 200)


def device():
    server = discovered(env["ISSUER"])
    client = DeviceClient(client_id=env["PUBLIC_ID"])
    # The library creates the URL of this request, but sends only the token request.
    url = client.prepare_request_uri(server["device_authorization_endpoint"], scope=["notes:read"])
    endpoint, _, body = url.partition("?")
    codes = requests.post(endpoint, body, headers=FORM).json()
    visit(codes["verification_uri_complete"])
    session = OAuth2Session(client=client)
    session.fetch_token(
        server["token_endpoint"], device_code=codes["device_code"], include_client_id=True
    )
    same(session.get(env["ISSUER"] + "/api/notes").status_code, 200)


def revocation():
    session, server, token = login()
    url, headers, body = session._client.prepare_token_revocation_request(
        server["revocation_endpoint"], token["refresh_token"], token_type_hint="refresh_token"
    )
    basic = (env["WEB_ID"], env["WEB_SECRET"])
    same(requests.post(url, body, headers=headers, auth=basic).status_code, 200)
    same(session.get(env["ISSUER"] + "/api/notes").status_code, 401)


def main():
    check(LIBRARY, "code with PKCE, userinfo", code)
    check(LIBRARY, "code, client_secret_post", lambda: login("POST"))
    check(LIBRARY, "code, public client", lambda: login("PUBLIC"))
    check(LIBRARY, "refresh", refresh)
    check(LIBRARY, "automatic refresh", automatic_refresh)
    check(LIBRARY, "client credentials", client_credentials)
    check(LIBRARY, "device, public client", device)
    check(LIBRARY, "revocation", revocation)
