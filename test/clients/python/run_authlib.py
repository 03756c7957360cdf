"""Authlib: the OAuth session for requests."""

import time

from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
import requests

from support import check, discovered, env, same, visit

LIBRARY = "Authlib 1.9.10"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
SCOPE = "openid email notes:read offline_access"


def session(client="WEB", prefix="", **options):
    server = discovered(env[prefix + "ISSUER"])
    secret = None if client == "PUBLIC" else env[f"{prefix}{client}_SECRET"]
    options = {"code_challenge_method": "S256", "redirect_uri": env["REDIRECT_URI"], "scope": SCOPE, **options}
    made = OAuth2Session(env[f"{prefix}{client}_ID"], secret, token_endpoint=server["token_endpoint"], **options)
    return made, server


def login(client="WEB", prefix="", **options):
    made, server = session(client, prefix, **options)
    verifier = generate_token(48)
    url, _ = made.create_authorization_url(server["authorization_endpoint"], code_verifier=verifier, nonce="n-1")
    token = made.fetch_token(authorization_response=visit(url), code_verifier=verifier)
    return made, server, token


def with_key():
    made, server = session("KEY", token_endpoint_auth_method="private_key_jwt")
    made.client_secret = env["KEY_PEM"]
    made.register_client_auth_method(
        PrivateKeyJWT(server["token_endpoint"], headers={"kid": env["KEY_KID"]})
    )
    return made, server


def code():
    made, server, _ = login()
    same(made.get(server["userinfo_endpoint"]).json()["email"], env["USER_EMAIL"])


def post():
    login("POST", token_endpoint_auth_method="client_secret_post")


def public():
    login("PUBLIC", token_endpoint_auth_method="none")


def id_token():
    _, server, token = login()
    keys = KeySet.import_key_set(requests.get(server["jwks_uri"]).json())
    claims = jwt.decode(token["id_token"], keys).claims
    same((claims["iss"], claims["nonce"]), (env["ISSUER"], "n-1"))


def refresh():
    made, server, token = login()
    again = made.refresh_token(server["token_endpoint"], refresh_token=token["refresh_token"])
    if again["access_token"] == token["access_token"]:
        raise AssertionError("the access token is the same")


def client_credentials():
    made, server = session(scope="notes:read")
    made.fetch_token(server["token_endpoint"], grant_type="client_credentials")
    same(made.get(env["ISSUER"] + "/api/notes").status_code, 200)


def private_key_jwt():
    made, server = with_key()
    made.fetch_token(server["token_endpoint"], grant_type="client_credentials", scope="notes:read")


def private_key_jwt_code():
    made, server = with_key()
    verifier = generate_token(48)
    url, _ = made.create_authorization_url(server["authorization_endpoint"], code_verifier=verifier)
    made.fetch_token(authorization_response=visit(url), code_verifier=verifier)


def device():
    made, server = session("PUBLIC", token_endpoint_auth_method="none", scope="notes:read")
    # The library has no function for this request, and no name for the grant type.
    request = {"client_id": env["PUBLIC_ID"], "scope": "notes:read"}
    codes = requests.post(server["device_authorization_endpoint"], request).json()
    poll = {"grant_type": DEVICE_GRANT, "device_code": codes["device_code"]}
    try:
        made.fetch_token(server["token_endpoint"], **poll)
        raise AssertionError("the user has not agreed yet")
    except OAuthError as error:
        same(error.error, "authorization_pending")
    visit(codes["verification_uri_complete"])
    time.sleep(codes["interval"])
    made.fetch_token(server["token_endpoint"], **poll)
    same(made.get(env["ISSUER"] + "/api/notes").status_code, 200)


def introspection():
    made, server, token = login()
    response = made.introspect_token(server["introspection_endpoint"], token=token["access_token"])
    same(response.json()["active"], True)


def revocation():
    made, server, token = login()
    made.revoke_token(server["revocation_endpoint"], token=token["refresh_token"])
    same(made.get(env["ISSUER"] + "/api/notes").status_code, 401)


def jwt_access_token():
    _, server, token = login(prefix="JWT_")
    keys = KeySet.import_key_set(requests.get(server["jwks_uri"]).json())
    same(jwt.decode(token["access_token"], keys).claims["iss"], env["JWT_ISSUER"])


def main():
    check(LIBRARY, "code with PKCE, userinfo", code)
    check(LIBRARY, "code, client_secret_post", post)
    check(LIBRARY, "code, public client", public)
    check(LIBRARY, "ID token", id_token)
    check(LIBRARY, "refresh", refresh)
    check(LIBRARY, "client credentials", client_credentials)
    check(LIBRARY, "private_key_jwt with its default assertion, client credentials", private_key_jwt)
    check(LIBRARY, "private_key_jwt with its default assertion, code", private_key_jwt_code)
    check(LIBRARY, "device, public client", device)
    check(LIBRARY, "introspection", introspection)
    check(LIBRARY, "revocation", revocation)
    check(LIBRARY, "JWT access token with the published keys", jwt_access_token)
