//! The Rust SDK of the Model Context Protocol.

use rmcp::ServiceExt;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::{
    AuthClient, AuthorizationManager, AuthorizationRequest, ClientCredentialsConfig,
    JwtSigningAlgorithm, OAuthState,
};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use crate::support::{Outcome, check, env, same, visit};

const LIBRARY: &str = "rmcp 3.11.0";

/// Lists the tools of the MCP server with the credentials of the manager.
async fn tools(manager: AuthorizationManager) -> Outcome {
    let transport = StreamableHttpClientTransport::with_client(
        AuthClient::new(reqwest::Client::default(), manager),
        StreamableHttpClientTransportConfig::with_uri(env("MCP_URL")),
    );
    let client = ().serve(transport).await?;
    let tools = client.list_all_tools().await?;
    client.cancel().await?;
    same(tools.is_empty(), false)
}

async fn login(request: AuthorizationRequest) -> Outcome<OAuthState> {
    let mut state = OAuthState::new(env("MCP_URL"), None).await?;
    state.start_authorization(request).await?;
    let arrived = visit(&state.get_authorization_url().await?).await?;
    state.handle_callback_url(arrived.as_str()).await?;
    Ok(state)
}

fn registering() -> AuthorizationRequest {
    AuthorizationRequest::new(env("REDIRECT_URI")).with_client_name("Assistant")
}

fn manager_of(state: OAuthState) -> Outcome<AuthorizationManager> {
    Ok(state.into_authorization_manager().ok_or("the state is not authorized")?)
}

async fn registered() -> Outcome {
    let request = AuthorizationRequest::new(env("REDIRECT_URI"))
        .with_preregistered_client(env("WEB_ID"))
        .with_client_secret(env("WEB_SECRET"));
    tools(manager_of(login(request).await?)?).await
}

async fn refresh() -> Outcome {
    let manager = manager_of(login(registering()).await?)?;
    let first = manager.get_access_token().await?;
    manager.refresh_token().await?;
    same(manager.get_access_token().await? == first, false)?;
    tools(manager).await
}

async fn client_credentials(config: ClientCredentialsConfig) -> Outcome {
    let mut state = OAuthState::new(env("MCP_URL"), None).await?;
    state.authenticate_client_credentials(config).await?;
    tools(manager_of(state)?).await
}

fn secret() -> ClientCredentialsConfig {
    ClientCredentialsConfig::ClientSecret {
        client_id: env("WEB_ID"),
        client_secret: env("WEB_SECRET"),
        scopes: vec!["notes:read".to_owned()],
        resource: Some(env("MCP_URL")),
    }
}

fn key() -> ClientCredentialsConfig {
    ClientCredentialsConfig::PrivateKeyJwt {
        client_id: env("KEY_ID"),
        signing_key: env("KEY_PEM").into_bytes(),
        signing_algorithm: JwtSigningAlgorithm::RS256,
        token_endpoint_audience: None,
        scopes: vec!["notes:read".to_owned()],
        resource: Some(env("MCP_URL")),
    }
}

pub async fn run() {
    check(LIBRARY, "login with dynamic registration", async {
        tools(manager_of(login(registering()).await?)?).await
    })
    .await;
    check(LIBRARY, "login of a registered client", registered()).await;
    check(LIBRARY, "refresh", refresh()).await;
    check(LIBRARY, "client credentials", client_credentials(secret())).await;
    check(LIBRARY, "client credentials, private_key_jwt", client_credentials(key())).await;
}
