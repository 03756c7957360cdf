/** A published AI client, with the metadata that it sends to authorization servers. */
export interface AiClient {
  readonly name: string
  /** The client ID, if it is the URL of a client ID metadata document. */
  readonly document?: string
  /**
   * The content of the metadata document. If the server does not support such documents, the client sends this content
   * in a registration request.
   */
  readonly metadata: Readonly<Record<string, unknown>>
  /** The redirect URI that the client sends. Its port may differ from the port of the registered URI. */
  readonly redirectUri: string
  /** The authentication methods that the client supports. */
  readonly methods: readonly string[]
}

const codeAndRefresh = {
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
} as const

/**
 * The published AI clients. The redirect URIs are quoted from public issue trackers and vendors' documentation of 2025
 * and 2026.
 */
export const aiClients: readonly AiClient[] = [
  {
    name: 'ChatGPT',
    document: 'https://chatgpt.com/oauth/client.json',
    metadata: {
      client_name: 'ChatGPT',
      redirect_uris: [
        // `callback-id` is a placeholder for the ID that ChatGPT assigns to a connector.
        'https://chatgpt.com/connector/oauth/callback-id',
        'https://chatgpt.com/connector_platform_oauth_redirect',
      ],
      ...codeAndRefresh,
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
    },
    redirectUri: 'https://chatgpt.com/connector/oauth/callback-id',
    methods: ['private_key_jwt', 'none'],
  },
  {
    name: 'Claude',
    metadata: {
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      ...codeAndRefresh,
      token_endpoint_auth_method: 'client_secret_post',
      // Claude registers with this scope at every server, although servers do not know the scope and must ignore it.
      scope: 'claudeai',
    },
    redirectUri: 'https://claude.ai/api/mcp/auth_callback',
    methods: ['client_secret_post', 'none'],
  },
  {
    name: 'Claude Code',
    document: 'https://claude.ai/oauth/claude-code-client-metadata',
    metadata: {
      client_name: 'Claude Code',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
      ...codeAndRefresh,
      token_endpoint_auth_method: 'none',
    },
    redirectUri: 'http://localhost:52163/callback',
    methods: ['none'],
  },
  {
    name: 'VS Code',
    document: 'https://vscode.dev/oauth/client-metadata.json',
    metadata: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
      grant_types: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    redirectUri: 'http://127.0.0.1:59656/',
    methods: ['none'],
  },
  {
    name: 'Codex',
    document: 'https://chatgpt.com/oauth/codex/client.json',
    metadata: {
      client_name: 'Codex',
      redirect_uris: ['http://127.0.0.1:37819/callback/6MFBM1In3Ey-'],
      ...codeAndRefresh,
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    redirectUri: 'http://127.0.0.1:63546/callback/6MFBM1In3Ey-',
    methods: ['none'],
  },
  {
    name: 'Cursor',
    metadata: {
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      ...codeAndRefresh,
      token_endpoint_auth_method: 'none',
    },
    redirectUri: 'http://localhost:8787/callback',
    methods: ['none'],
  },
]
