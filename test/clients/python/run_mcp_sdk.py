"""The Python SDK of the Model Context Protocol."""

import asyncio

import httpx2
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.auth.oauth2 import AuthorizationCodeResult
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata

from support import check, env, parameters, same, visit

LIBRARY = "mcp 2.3.0"


class Memory:
    """A token storage."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def tools(auth):
    async with httpx2.AsyncClient(auth=auth, timeout=20) as http:
        async with streamable_http_client(env["MCP_URL"], http_client=http) as streams:
            async with ClientSession(*streams[:2]) as session:
                await session.initialize()
                same(len((await session.list_tools()).tools) > 0, True)


def new_provider(memory):
    arrived = {}

    async def open_browser(url):
        arrived.update(parameters(await asyncio.to_thread(visit, url)))

    async def callback():
        return AuthorizationCodeResult(
            code=arrived["code"], state=arrived["state"], iss=arrived.get("iss")
        )

    metadata = OAuthClientMetadata(client_name="Assistant", redirect_uris=[env["REDIRECT_URI"]])
    return OAuthClientProvider(
        server_url=env["MCP_URL"],
        client_metadata=metadata,
        storage=memory,
        redirect_handler=open_browser,
        callback_handler=callback,
    )


async def login():
    memory = Memory()
    await tools(new_provider(memory))
    same(memory.tokens.refresh_token is not None, True)


async def registered():
    memory = Memory()
    memory.client = OAuthClientInformationFull(
        client_id=env["WEB_ID"],
        client_secret=env["WEB_SECRET"],
        redirect_uris=[env["REDIRECT_URI"]],
        token_endpoint_auth_method="client_secret_basic",
        issuer=env["ISSUER"],
    )
    await tools(new_provider(memory))
    same(memory.client.client_id, env["WEB_ID"])


async def refresh():
    memory = Memory()
    provider = new_provider(memory)
    await tools(provider)
    first = memory.tokens.access_token
    provider.context.token_expiry_time = 1
    await tools(provider)
    same(memory.tokens.access_token != first, True)


async def client_credentials():
    await tools(
        ClientCredentialsOAuthProvider(
            server_url=env["MCP_URL"],
            storage=Memory(),
            client_id=env["WEB_ID"],
            client_secret=env["WEB_SECRET"],
            issuer=env["ISSUER"],
        )
    )


async def private_key_jwt():
    signing = SignedJWTParameters(
        issuer=env["KEY_ID"], subject=env["KEY_ID"], signing_key=env["KEY_PEM"]
    )
    await tools(
        PrivateKeyJWTOAuthProvider(
            server_url=env["MCP_URL"],
            storage=Memory(),
            client_id=env["KEY_ID"],
            assertion_provider=signing.create_assertion_provider(),
            issuer=env["ISSUER"],
        )
    )


def main():
    check(LIBRARY, "login with dynamic registration", lambda: asyncio.run(login()))
    check(LIBRARY, "login of a registered client", lambda: asyncio.run(registered()))
    check(LIBRARY, "refresh", lambda: asyncio.run(refresh()))
    check(LIBRARY, "client credentials", lambda: asyncio.run(client_credentials()))
    check(LIBRARY, "client credentials, private_key_jwt", lambda: asyncio.run(private_key_jwt()))
