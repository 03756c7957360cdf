//! The crate `openidconnect`, by the issuer.

use openidconnect::core::{
    CoreAuthDisplay, CoreAuthenticationFlow, CoreClaimName, CoreClaimType, CoreClient,
    CoreClientAuthMethod, CoreClientRegistrationRequest, CoreDeviceAuthorizationResponse,
    CoreGrantType, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm,
    CoreResponseMode, CoreResponseType, CoreRevocableToken, CoreSubjectIdentifierType,
    CoreTokenResponse, CoreUserInfoClaims,
};
use openidconnect::{
    AccessTokenHash, AdditionalProviderMetadata, AuthType, AuthorizationCode, ClientId,
    ClientName, ClientSecret, CsrfToken, DeviceAuthorizationUrl, EndSessionUrl, EndpointMaybeSet,
    EndpointNotSet, EndpointSet,
    IntrospectionUrl, IssuerUrl, LogoutRequest, Nonce, OAuth2TokenResponse, PkceCodeChallenge,
    PostLogoutRedirectUrl, ProviderMetadata, RedirectUrl, RevocationUrl, Scope, TokenIntrospectionResponse,
    TokenResponse,
};
use openidconnect::registration::EmptyAdditionalClientMetadata;
use serde::{Deserialize, Serialize};

use crate::support::{Outcome, api, behind_tls, check, code_at, env, http, same, visit};

const LIBRARY: &str = "openidconnect 4.1.0";

/// The members of the discovery document that the crate does not read by itself.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct MoreMetadata {
    device_authorization_endpoint: DeviceAuthorizationUrl,
    introspection_endpoint: IntrospectionUrl,
    revocation_endpoint: String,
    end_session_endpoint: EndSessionUrl,
}
impl AdditionalProviderMetadata for MoreMetadata {}

type Metadata = ProviderMetadata<
    MoreMetadata,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

type Client = CoreClient<
    EndpointSet,
    EndpointSet,
    EndpointSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

async fn metadata() -> Outcome<Metadata> {
    Ok(Metadata::discover_async(IssuerUrl::new(env("ISSUER"))?, &http()).await?)
}

async fn client(name: &str) -> Outcome<Client> {
    let metadata = metadata().await?;
    let more = metadata.additional_metadata().clone();
    let secret = (name != "PUBLIC").then(|| ClientSecret::new(env(&format!("{name}_SECRET"))));
    let id = ClientId::new(env(&format!("{name}_ID")));
    let client = CoreClient::from_provider_metadata(metadata, id, secret)
        .set_device_authorization_url(more.device_authorization_endpoint)
        .set_introspection_url(more.introspection_endpoint)
        .set_redirect_uri(RedirectUrl::new(env("REDIRECT_URI"))?);
    Ok(if name == "POST" { client.set_auth_type(AuthType::RequestBody) } else { client })
}

async fn login(client: &Client) -> Outcome<(CoreTokenResponse, Nonce)> {
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (url, state, nonce) = client
        .authorize_url(
            CoreAuthenticationFlow::AuthorizationCode,
            CsrfToken::new_random,
            Nonce::new_random,
        )
        .add_scopes(["email", "notes:read", "offline_access"].map(|one| Scope::new(one.to_owned())))
        .set_pkce_challenge(challenge)
        .url();
    let (code, returned) = code_at(&url).await?;
    same(&returned, state.secret())?;
    let token = client
        .exchange_code(AuthorizationCode::new(code))?
        .set_pkce_verifier(verifier)
        .request_async(&http())
        .await?;
    Ok((token, nonce))
}

async fn code(name: &str) -> Outcome {
    let client = client(name).await?;
    let (token, nonce) = login(&client).await?;
    let verifier = client.id_token_verifier();
    let id_token = token.id_token().ok_or("there is no ID token")?;
    let claims = id_token.claims(&verifier, &nonce)?;
    let expected = claims.access_token_hash().ok_or("there is no at_hash")?;
    let actual = AccessTokenHash::from_token(
        token.access_token(),
        id_token.signing_alg()?,
        id_token.signing_key(&verifier)?,
    )?;
    same(&actual, expected)
}

async fn userinfo() -> Outcome {
    let client = client("WEB").await?;
    let (token, nonce) = login(&client).await?;
    let id_token = token.id_token().ok_or("there is no ID token")?;
    let subject = id_token.claims(&client.id_token_verifier(), &nonce)?.subject().clone();
    let claims: CoreUserInfoClaims = client
        .user_info(token.access_token().clone(), Some(subject))?
        .request_async(&http())
        .await?;
    same(claims.email().map(|email| email.to_string()), Some(env("USER_EMAIL")))
}

async fn refresh() -> Outcome {
    let client = client("WEB").await?;
    let (token, _) = login(&client).await?;
    let refresh = token.refresh_token().ok_or("there is no refresh token")?;
    let again = client.exchange_refresh_token(refresh)?.request_async(&http()).await?;
    // An ID token from a refresh contains no nonce.
    let without_nonce = |nonce: Option<&Nonce>| match nonce {
        None => Ok(()),
        Some(_) => Err("there is a nonce".to_owned()),
    };
    let id_token = again.id_token().ok_or("there is no ID token")?;
    id_token.claims(&client.id_token_verifier(), without_nonce)?;
    same(api(again.access_token().secret()).await?, 200)
}

async fn client_credentials() -> Outcome {
    let client = client("WEB").await?.disable_openid_scope();
    let token = client
        .exchange_client_credentials()?
        .add_scope(Scope::new("notes:read".to_owned()))
        .request_async(&http())
        .await?;
    same(api(token.access_token().secret()).await?, 200)
}

async fn device(name: &str) -> Outcome {
    let client = client(name).await?;
    let codes: CoreDeviceAuthorizationResponse = client
        .exchange_device_code()
        .add_scope(Scope::new("notes:read".to_owned()))
        .request_async(&http())
        .await?;
    let address = codes.verification_uri_complete().ok_or("there is no complete URL")?;
    visit(address.secret()).await?;
    let token = client
        .exchange_device_access_token(&codes)?
        .request_async(&http(), tokio::time::sleep, None)
        .await?;
    same(api(token.access_token().secret()).await?, 200)
}

async fn introspection() -> Outcome {
    let (token, _) = login(&client("WEB").await?).await?;
    let server = client("API").await?;
    let about = server.introspect(token.access_token()).request_async(&http()).await?;
    same(about.active(), true)
}

async fn revocation() -> Outcome {
    let client = client("WEB").await?;
    let (token, _) = login(&client).await?;
    let refresh = token.refresh_token().ok_or("there is no refresh token")?;
    let url = metadata().await?.additional_metadata().revocation_endpoint.replacen("http:", "https:", 1);
    client
        .set_revocation_url(RevocationUrl::new(url)?)
        .revoke_token(CoreRevocableToken::from(refresh))?
        .request_async(&behind_tls)
        .await?;
    same(api(token.access_token().secret()).await?, 401)
}

async fn registration() -> Outcome {
    let metadata = metadata().await?;
    let endpoint = metadata.registration_endpoint().ok_or("there is no endpoint")?;
    let uris = vec![RedirectUrl::new(env("REDIRECT_URI"))?];
    let name = ClientName::new("Printer".to_owned());
    let registered =
        CoreClientRegistrationRequest::new(uris, EmptyAdditionalClientMetadata::default())
            .set_client_name(Some([(None, name)].into_iter().collect()))
            .register_async(endpoint, &http())
            .await?;
    let client = CoreClient::from_provider_metadata(
        metadata.clone(),
        registered.client_id().clone(),
        registered.client_secret().cloned(),
    )
    .set_device_authorization_url(metadata.additional_metadata().device_authorization_endpoint.clone())
    .set_introspection_url(metadata.additional_metadata().introspection_endpoint.clone())
    .set_redirect_uri(RedirectUrl::new(env("REDIRECT_URI"))?);
    let (token, nonce) = login(&client).await?;
    let id_token = token.id_token().ok_or("there is no ID token")?;
    id_token.claims(&client.id_token_verifier(), &nonce)?;
    Ok(())
}

async fn logout() -> Outcome {
    let (token, _) = login(&client("WEB").await?).await?;
    let endpoint = metadata().await?.additional_metadata().end_session_endpoint.clone();
    let url = LogoutRequest::from(endpoint)
        .set_id_token_hint(token.id_token().ok_or("there is no ID token")?)
        .set_post_logout_redirect_uri(PostLogoutRedirectUrl::new(env("REDIRECT_URI"))?)
        .set_state(CsrfToken::new("state".to_owned()))
        .http_get_url();
    let response = http().get(url).send().await?;
    let location = response.headers().get("location").ok_or("there is no redirect")?;
    same(location.to_str()?, &format!("{}?state=state", env("REDIRECT_URI")))
}

pub async fn run() {
    for name in ["WEB", "POST", "PUBLIC"] {
        let check_name = format!("discovery, code with PKCE, ID token with nonce and at_hash, {name}");
        check(LIBRARY, &check_name, code(name)).await;
    }
    check(LIBRARY, "userinfo", userinfo()).await;
    check(LIBRARY, "refresh with a new ID token", refresh()).await;
    check(LIBRARY, "client credentials", client_credentials()).await;
    for name in ["PUBLIC", "WEB"] {
        check(LIBRARY, &format!("device, {name}"), device(name)).await;
    }
    check(LIBRARY, "introspection", introspection()).await;
    check(LIBRARY, "revocation", revocation()).await;
    check(LIBRARY, "dynamic registration, and login of the new client", registration()).await;
    check(LIBRARY, "logout", logout()).await;
}
