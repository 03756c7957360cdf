"""Authlib: the integration with Flask. It knows the URL of the discovery document and the client, and nothing else."""

from urllib.parse import urlsplit

from authlib.integrations.flask_client import OAuth
from flask import Flask

from support import check, env, same, visit

LIBRARY = "Authlib 1.9.10"


def application(tokens):
    """Returns the web application. It keeps the latest token in `tokens`."""
    app = Flask(__name__)
    app.secret_key = "the secret key of the web application"
    oauth = OAuth(app, update_token=lambda name, token, **_: tokens.append(token))
    oauth.register(
        "notes",
        client_id=env["WEB_ID"],
        client_secret=env["WEB_SECRET"],
        server_metadata_url=env["ISSUER"] + "/.well-known/openid-configuration",
        client_kwargs={"scope": "openid profile email notes:read", "code_challenge_method": "S256"},
    )

    @app.get("/login")
    def login():
        claims = '{"id_token":{"email":null}}'
        return oauth.notes.authorize_redirect(env["REDIRECT_URI"], claims=claims)

    @app.get("/callback")
    def callback():
        token = oauth.notes.authorize_access_token()
        tokens.append(token)
        return {"id_token": token["userinfo"], "userinfo": oauth.notes.userinfo(token=token)}

    @app.get("/notes")
    def notes():
        # The library refreshes an expired token before the request.
        expired = {**tokens[-1], "expires_at": 1}
        return {"status": oauth.notes.get(env["ISSUER"] + "/api/notes", token=expired).status_code}

    @app.get("/logout")
    def logout():
        hint = tokens[-1]["id_token"]
        return oauth.notes.logout_redirect(post_logout_redirect_uri=env["REDIRECT_URI"], id_token_hint=hint)

    return app.test_client()


def flask():
    tokens = []
    site = application(tokens)
    arrived = visit(site.get("/login").location)
    user = site.get("/callback?" + urlsplit(arrived).query).json
    same(user["id_token"]["email"], env["USER_EMAIL"])
    same((user["userinfo"]["email"], user["userinfo"]["name"]), (env["USER_EMAIL"], "Ada Lovelace"))
    same(site.get("/notes").json["status"], 200)
    same(len(tokens), 2)
    if tokens[0]["access_token"] == tokens[1]["access_token"]:
        raise AssertionError("the access token is the same")
    arrived = visit(site.get("/logout").location)
    same(arrived.split("?")[0], env["REDIRECT_URI"])


def main():
    check(LIBRARY, "Flask: code with PKCE, userinfo, claims, automatic refresh, logout", flask)
