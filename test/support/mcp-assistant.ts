import {
  Client,
  type ClientOptions,
  type DpopSession,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { expect } from 'vitest'
import type { TestServer } from './server.ts'
import { UserAgent } from './user-agent.ts'

// An AI application that uses the official client library of the Model Context Protocol.

/** The redirect URI of the assistant. No server listens at this URI: the test reads the redirect of the browser. */
export const callback = 'http://127.0.0.1:8911/callback'

/** An MCP server, and the user on whose behalf an assistant acts. */
export interface McpPlace extends Pick<TestServer, 'issuer' | 'user' | 'password'> {
  readonly resource: string
}

/** The metadata that the assistant sends at registration. */
export const clientMetadata: OAuthClientMetadata = {
  client_name: 'Assistant',
  redirect_uris: [callback],
}

/** The login state that an AI application stores. `asked` contains the authorization URLs that the user had to open. */
export class Memory implements OAuthClientProvider {
  readonly redirectUrl = callback
  dpop?: () => DpopSession
  readonly clientMetadata = clientMetadata
  readonly asked: URL[] = []
  clientMetadataUrl?: string
  client: StoredOAuthClientInformation | undefined
  kept: StoredOAuthTokens | undefined
  #verifier = ''
  #discovered: OAuthDiscoveryState | undefined

  discoveryState() {
    return this.#discovered
  }
  saveDiscoveryState(state: OAuthDiscoveryState) {
    this.#discovered = state
  }
  clientInformation() {
    return this.client
  }
  saveClientInformation(client: StoredOAuthClientInformation) {
    this.client = client
  }
  tokens() {
    return this.kept
  }
  saveTokens(tokens: StoredOAuthTokens) {
    this.kept = tokens
  }
  redirectToAuthorization(url: URL) {
    this.asked.push(url)
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier
  }
  codeVerifier() {
    return this.#verifier
  }
}

/** The protocol version of the client library: `legacy` for the revisions before 2026, or a later revision. */
export type Protocol = 'legacy' | { readonly pin: string }

export const newClient = (protocol: Protocol): Client => {
  const options: ClientOptions = { versionNegotiation: { mode: protocol } }
  return new Client({ name: 'assistant', version: '1.0.0' }, options)
}

/** An AI application with the browser of its user. */
export class Assistant {
  readonly memory = new Memory()
  readonly #app: McpPlace
  readonly #agent = new UserAgent()
  readonly #protocol: Protocol
  #client: Client
  #transport: StreamableHTTPClientTransport

  constructor(app: McpPlace, protocol: Protocol = 'legacy') {
    this.#app = app
    this.#protocol = protocol
    this.#client = newClient(protocol)
    this.#transport = this.#newTransport()
  }

  #newTransport(): StreamableHTTPClientTransport {
    const { memory: authProvider } = this
    return new StreamableHTTPClientTransport(new URL(this.#app.resource), { authProvider })
  }

  /** Connects to the MCP server. If the server requires authorization, the user first consents. */
  async connect(): Promise<void> {
    try {
      await this.#client.connect(this.#transport)
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error
      await this.#finish()
      this.#client = newClient(this.#protocol)
      this.#transport = this.#newTransport()
      await this.#client.connect(this.#transport)
    }
  }

  async #finish(): Promise<void> {
    const url = this.memory.asked.at(-1)
    if (!url) throw new Error('The assistant did not send the user to an authorization URL.')
    const response = await this.#agent.authorize(this.#app, url)
    expect(`${response.origin}${response.pathname}`).toBe(callback)
    await this.#transport.finishAuth(response.searchParams)
  }

  /** Calls a tool and returns its result, parsed as JSON. */
  async call(name: string, given: Record<string, unknown> = {}): Promise<unknown> {
    return JSON.parse(await this.textResult(name, given))
  }

  /** Calls a tool and returns its text. If the tool requires more scopes, the user first grants them. */
  async textResult(name: string, given: Record<string, unknown> = {}): Promise<string> {
    const ask = () => this.#client.callTool({ name, arguments: given })
    const result = await ask().catch(async (error: unknown) => {
      if (!(error instanceof UnauthorizedError)) throw error
      await this.#finish()
      return ask()
    })
    const [content] = result.content
    if (content?.type !== 'text' || result.isError) throw new Error(JSON.stringify(result))
    return content.text
  }

  async tools(): Promise<readonly string[]> {
    return (await this.#client.listTools()).tools.map(({ name }) => name)
  }

  close(): Promise<void> {
    return this.#client.close()
  }
}
