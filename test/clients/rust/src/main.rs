//! Runs Rust client libraries against the server that the environment describes.

mod oauth2_crate;
mod openidconnect_crate;
mod rmcp_crate;
mod support;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    oauth2_crate::run().await;
    openidconnect_crate::run().await;
    rmcp_crate::run().await;
}
