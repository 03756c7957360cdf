"""Runs Python client libraries against the server that the environment describes."""

import os

# requests-oauthlib and Authlib refuse http without these variables, even on a loopback address.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import run_authlib
import run_authlib_flask
import run_httpx_oauth
import run_mcp_sdk
import run_requests_oauth2client
import run_requests_oauthlib

for module in (
    run_authlib,
    run_authlib_flask,
    run_requests_oauthlib,
    run_httpx_oauth,
    run_requests_oauth2client,
    run_mcp_sdk,
):
    module.main()
