//! Runs checks and prints each result as a line of JSON.

use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

use oauth2::{AsyncHttpClient, HttpClientError, HttpRequest, HttpResponse, reqwest};
use serde_json::{Value, json};
use url::Url;

pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Runs one check.
pub async fn check(library: &str, name: &str, run: impl Future<Output = Outcome>) {
    let problem = match tokio::time::timeout(Duration::from_secs(30), run).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(explained(error.as_ref())),
        Err(_) => Some("no result after 30 s".to_owned()),
    };
    let mut result = json!({ "check": name, "ok": problem.is_none() });
    if let Some(detail) = problem {
        result["detail"] = detail.into();
    }
    println!("{{\"library\":{},{}", json!(library), &result.to_string()[1..]);
}

fn explained(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

pub fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Returns an HTTP client that does not follow redirects, as the libraries demand.
pub fn http() -> reqwest::Client {
    reqwest::ClientBuilder::new()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .expect("the client should build")
}

/// Sends a request without TLS. For revocation, the crates demand an https URL.
pub async fn behind_tls(mut request: HttpRequest) -> Result<HttpResponse, HttpClientError<reqwest::Error>> {
    let url = request.uri().to_string().replacen("https:", "http:", 1);
    *request.uri_mut() = url.parse().expect("the URL should be valid");
    http().call(request).await
}

/// Lets the user of the browser agree at the URL. Returns the URL at which the browser arrives.
pub async fn visit(url: &str) -> Outcome<Url> {
    let address = Url::parse_with_params(&env("BROWSER"), [("url", url)])?;
    let response = http().get(address).send().await?;
    let is_ok = response.status().is_success();
    let body = response.text().await?;
    if !is_ok {
        return Err(body.into());
    }
    let arrived = Url::parse(&body)?;
    if arrived.query_pairs().any(|(name, _)| name == "error") {
        return Err(body.into());
    }
    Ok(arrived)
}

/// Returns the parameters in the query of a URL.
pub fn parameters(url: &Url) -> HashMap<String, String> {
    url.query_pairs().into_owned().collect()
}

/// Returns the code and the state to which the user agrees at the URL.
pub async fn code_at(url: &Url) -> Outcome<(String, String)> {
    let mut arrived = parameters(&visit(url.as_str()).await?);
    let mut taken = |name| arrived.remove(name).ok_or(format!("there is no {name}"));
    Ok((taken("code")?, taken("state")?))
}

pub fn same<T: PartialEq + std::fmt::Debug>(actual: T, expected: T) -> Outcome {
    if actual == expected {
        return Ok(());
    }
    Err(format!("{actual:?} is not {expected:?}").into())
}

/// Calls the REST API with a token. Returns the status.
pub async fn api(token: &str) -> Outcome<u16> {
    let response = http().get(format!("{}/api/notes", env("ISSUER"))).bearer_auth(token).send().await?;
    Ok(response.status().as_u16())
}

/// Returns a member of the discovery document, for libraries that take the URLs of the endpoints.
pub async fn discovered(member: &str) -> Outcome<String> {
    let url = format!("{}/.well-known/openid-configuration", env("ISSUER"));
    let document: Value = serde_json::from_str(&http().get(url).send().await?.text().await?)?;
    Ok(document[member].as_str().ok_or("the member is missing")?.to_owned())
}
