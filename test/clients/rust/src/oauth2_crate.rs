//! The crate `oauth2`, with the URLs of the endpoints.

use oauth2::basic::{BasicClient, BasicTokenResponse};
use oauth2::{
    AuthType, AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken, DeviceAuthorizationUrl,
    EndpointSet, IntrospectionUrl, PkceCodeChallenge, RedirectUrl, RevocationUrl, Scope,
    StandardDeviceAuthorizationResponse, StandardRevocableToken, TokenIntrospectionResponse,
    TokenResponse, TokenUrl,
};

use crate::support::{Outcome, api, behind_tls, check, code_at, discovered, env, http, same, visit};

const LIBRARY: &str = "oauth2 5.0.0";

type Client = BasicClient<EndpointSet, EndpointSet, EndpointSet, EndpointSet, EndpointSet>;

async fn client(name: &str) -> Outcome<Client> {
    let client = BasicClient::new(ClientId::new(env(&format!("{name}_ID"))))
        .set_auth_uri(AuthUrl::new(discovered("authorization_endpoint").await?)?)
        .set_token_uri(TokenUrl::new(discovered("token_endpoint").await?)?)
        .set_device_authorization_url(DeviceAuthorizationUrl::new(
            discovered("device_authorization_endpoint").await?,
        )?)
        .set_introspection_url(IntrospectionUrl::new(discovered("introspection_endpoint").await?)?)
        .set_revocation_url(RevocationUrl::new(
            discovered("revocation_endpoint").await?.replacen("http:", "https:", 1),
        )?)
        .set_redirect_uri(RedirectUrl::new(env("REDIRECT_URI"))?);
    let secret = || ClientSecret::new(env(&format!("{name}_SECRET")));
    Ok(match name {
        "PUBLIC" => client,
        "POST" => client.set_client_secret(secret()).set_auth_type(AuthType::RequestBody),
        _ => client.set_client_secret(secret()),
    })
}

async fn login(client: &Client) -> Outcome<BasicTokenResponse> {
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (url, state) = client
        .authorize_url(CsrfToken::new_random)
        .add_scope(Scope::new("notes:read".to_owned()))
        .add_scope(Scope::new("offline_access".to_owned()))
        .set_pkce_challenge(challenge)
        .url();
    let (code, returned) = code_at(&url).await?;
    same(&returned, state.secret())?;
    Ok(client
        .exchange_code(AuthorizationCode::new(code))
        .set_pkce_verifier(verifier)
        .request_async(&http())
        .await?)
}

async fn code(name: &str) -> Outcome {
    let token = login(&client(name).await?).await?;
    same(api(token.access_token().secret()).await?, 200)
}

async fn refresh(name: &str) -> Outcome {
    let client = client(name).await?;
    let token = login(&client).await?;
    let refresh = token.refresh_token().ok_or("there is no refresh token")?;
    let again = client.exchange_refresh_token(refresh).request_async(&http()).await?;
    same(again.access_token().secret() == token.access_token().secret(), false)?;
    same(api(again.access_token().secret()).await?, 200)
}

async fn client_credentials(name: &str) -> Outcome {
    let token = client(name)
        .await?
        .exchange_client_credentials()
        .add_scope(Scope::new("notes:read".to_owned()))
        .request_async(&http())
        .await?;
    same(api(token.access_token().secret()).await?, 200)
}

async fn device(name: &str) -> Outcome {
    let client = client(name).await?;
    let codes: StandardDeviceAuthorizationResponse = client
        .exchange_device_code()
        .add_scope(Scope::new("notes:read".to_owned()))
        .request_async(&http())
        .await?;
    let address = codes.verification_uri_complete().ok_or("there is no complete URL")?;
    visit(address.secret()).await?;
    let token = client
        .exchange_device_access_token(&codes)
        .request_async(&http(), tokio::time::sleep, None)
        .await?;
    same(api(token.access_token().secret()).await?, 200)
}

async fn introspection() -> Outcome {
    let token = login(&client("WEB").await?).await?;
    let server = client("API").await?;
    let about = server.introspect(token.access_token()).request_async(&http()).await?;
    same(about.active(), true)?;
    same(about.client_id().map(|id| id.to_string()), Some(env("WEB_ID")))
}

async fn revocation(name: &str) -> Outcome {
    let client = client(name).await?;
    let token = login(&client).await?;
    let refresh = token.refresh_token().ok_or("there is no refresh token")?;
    let revocable = StandardRevocableToken::from(refresh);
    client.revoke_token(revocable)?.request_async(&behind_tls).await?;
    same(api(token.access_token().secret()).await?, 401)
}

pub async fn run() {
    for name in ["WEB", "POST", "PUBLIC"] {
        check(LIBRARY, &format!("code with PKCE, {name}"), code(name)).await;
    }
    for name in ["WEB", "PUBLIC"] {
        check(LIBRARY, &format!("refresh, {name}"), refresh(name)).await;
    }
    for name in ["WEB", "POST"] {
        check(LIBRARY, &format!("client credentials, {name}"), client_credentials(name)).await;
    }
    for name in ["PUBLIC", "WEB"] {
        check(LIBRARY, &format!("device, {name}"), device(name)).await;
    }
    check(LIBRARY, "introspection", introspection()).await;
    check(LIBRARY, "revocation", revocation("WEB")).await;
}
