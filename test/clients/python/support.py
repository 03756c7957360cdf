"""Runs checks and prints each result as a line of JSON."""

import json
import os
import urllib.parse
import urllib.request

env = os.environ


def check(library, name, run):
    """Runs one check."""
    result = {"library": library, "check": name, "ok": True}
    try:
        run()
    except Exception as error:  # noqa: BLE001 - every failure is a result
        result.update(ok=False, detail=f"{type(error).__name__}: {error}")
    print(json.dumps(result), flush=True)


def visit(url):
    """Lets the user of the browser agree at the URL. Returns the URL at which the browser arrives."""
    query = urllib.parse.urlencode({"url": url})
    with urllib.request.urlopen(f"{env['BROWSER']}?{query}") as response:
        arrived = response.read().decode()
    error = parameters(arrived).get("error")
    if error:
        raise RuntimeError(f"{error}: {parameters(arrived).get('error_description')}")
    return arrived


def parameters(url):
    """Returns the parameters in the query of a URL."""
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))


def same(actual, expected):
    if actual != expected:
        raise AssertionError(f"{actual!r} is not {expected!r}")


def discovered(issuer):
    """Returns the discovery document, for libraries that take the URLs of the endpoints."""
    with urllib.request.urlopen(f"{issuer}/.well-known/openid-configuration") as response:
        return json.load(response)
