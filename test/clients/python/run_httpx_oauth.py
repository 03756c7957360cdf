"""httpx-oauth: its generic OpenID client."""

import asyncio

import requests
from httpx_oauth.clients.openid import OpenID

from support import check, env, parameters, same, visit

LIBRARY = "httpx-oauth 0.17.0"


def new_client(name="WEB"):
    return OpenID(
        env[f"{name}_ID"], env[f"{name}_SECRET"], f"{env['ISSUER']}/.well-known/openid-configuration"
    )


async def login(client):
    verifier = "v" * 43
    from hashlib import sha256
    from base64 import urlsafe_b64encode

    challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    url = await client.get_authorization_url(
        env["REDIRECT_URI"],
        state="state",
        scope=["openid", "email", "offline_access"],
        code_challenge=challenge,
        code_challenge_method="S256",
    )
    arrived = parameters(await asyncio.to_thread(visit, url))
    return await client.get_access_token(arrived["code"], env["REDIRECT_URI"], verifier)


async def code():
    client = new_client()
    token = await login(client)
    _, email = await client.get_id_email(token["access_token"])
    same(email, env["USER_EMAIL"])


async def refresh():
    client = new_client()
    token = await login(client)
    again = await client.refresh_token(token["refresh_token"])
    same(again["access_token"] != token["access_token"], True)


async def revocation():
    client = new_client()
    token = await login(client)
    await client.revoke_token(token["access_token"], "access_token")
    with_token = {"authorization": f"Bearer {token['access_token']}"}
    response = await asyncio.to_thread(requests.get, env["ISSUER"] + "/api/notes", headers=with_token)
    same(response.status_code, 401)


def main():
    check(LIBRARY, "discovery, code with PKCE, userinfo", lambda: asyncio.run(code()))
    check(LIBRARY, "refresh", lambda: asyncio.run(refresh()))
    check(LIBRARY, "revocation", lambda: asyncio.run(revocation()))
