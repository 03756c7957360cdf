import type { ClientInput } from 'svc-oauth2server'
import type { TestServer } from './server.ts'
import type { LoggedIn } from './session.ts'
import { type TokenResponse, tokenRequest } from './user-agent.ts'

/** The grant type with which a device requests its tokens. */
export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

/** The response to a device authorization request, RFC 8628 §3.2. */
export interface DeviceCodes {
  readonly device_code: string
  readonly user_code: string
  readonly verification_uri: string
  readonly verification_uri_complete: string
  readonly expires_in: number
  readonly interval: number
}

type Given = Record<string, string | undefined>
type Registered = { readonly clientId: string; readonly clientSecret: string }

/** A device without a browser: a client, public by default, which requests codes and polls for tokens. */
export class Device {
  readonly app: TestServer
  readonly client: Registered
  readonly #isConfidential: boolean

  constructor(app: TestServer, client: Registered, isConfidential: boolean) {
    this.app = app
    this.client = client
    this.#isConfidential = isConfidential
  }

  static async register(
    app: TestServer,
    { isConfidential = false, ...input }: Partial<ClientInput> = {},
  ): Promise<Device> {
    const client = await app.client({ name: 'Photo Frame', isConfidential, ...input })
    return new Device(app, client, isConfidential)
  }

  /** Returns the raw response to a request for codes; undefined omits a parameter. */
  async ask(
    given: Given = {},
    {
      headers = {},
      issuer = this.app.issuer,
    }: { headers?: Record<string, string>; issuer?: string } = {},
  ): Promise<TokenResponse> {
    const body = this.#form({ scope: 'notes:read', ...given })
    const response = await fetch(`${issuer}/oauth/device_authorization`, {
      method: 'POST',
      body,
      headers: { ...this.#authorization, ...headers },
    })
    const { status } = response
    return { status, headers: response.headers, body: await response.json() } as TokenResponse
  }

  /** Requests codes and returns them. */
  async codes(given: Given = {}): Promise<DeviceCodes> {
    const { status, body } = await this.ask(given)
    if (status !== 200) throw new Error(`The request for codes failed: ${JSON.stringify(body)}`)
    return body as unknown as DeviceCodes
  }

  poll(
    { device_code }: Pick<DeviceCodes, 'device_code'>,
    given: Given = {},
    { issuer }: { readonly issuer: string } = this.app,
  ): Promise<TokenResponse> {
    const { clientId } = this.client
    const parameters = { grant_type: deviceGrant, device_code, ...given }
    return tokenRequest(
      issuer,
      this.#isConfidential ? parameters : { client_id: clientId, ...parameters },
      this.#isConfidential ? { basic: this.client } : {},
    ) as Promise<unknown> as Promise<TokenResponse>
  }

  #form(given: Given): URLSearchParams {
    const identified = this.#isConfidential ? given : { client_id: this.client.clientId, ...given }
    const pairs = Object.entries(identified).filter((pair) => pair[1] !== undefined)
    return new URLSearchParams(pairs as [string, string][])
  }

  get #authorization(): Record<string, string> {
    const { clientId, clientSecret } = this.client
    return this.#isConfidential
      ? { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` }
      : {}
  }
}

/** A page of the device flow: the form for the code, the consent, or the result. */
export interface DevicePage {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  /** The hidden fields of the form on this page. */
  readonly hidden: Record<string, string>
}

const pageOf = async (response: Response): Promise<DevicePage> => {
  const html = await response.text()
  const hidden = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)]
  return {
    status: response.status,
    headers: response.headers,
    html,
    hidden: Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value])),
  }
}

/** Opens the page on which a code is entered. */
export const openDevicePage = async (
  { issuer }: Pick<TestServer, 'issuer'>,
  { agent }: Pick<LoggedIn, 'agent'>,
  query = '',
): Promise<DevicePage> => pageOf(await agent.fetch(`${issuer}/oauth/device${query}`))

/** Submits the form of a page of the device flow. */
export const postToDevicePage = async (
  { issuer }: Pick<TestServer, 'issuer'>,
  { agent }: Pick<LoggedIn, 'agent'>,
  fields: Record<string, string> | URLSearchParams,
  headers: Record<string, string> = {},
): Promise<DevicePage> =>
  pageOf(
    await agent.fetch(`${issuer}/oauth/device`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers,
    }),
  )

/** Enters a code, and returns the consent page. */
export const enterCode = async (
  app: Pick<TestServer, 'issuer'>,
  person: Pick<LoggedIn, 'agent' | 'csrfToken'>,
  user_code: string,
): Promise<DevicePage> => postToDevicePage(app, person, { csrf_token: person.csrfToken, user_code })

/** Enters a code, and submits the user's decision. */
export const decideOn = async (
  app: Pick<TestServer, 'issuer'>,
  person: Pick<LoggedIn, 'agent' | 'csrfToken'>,
  { user_code }: Pick<DeviceCodes, 'user_code'>,
  confirm: 'yes' | 'no' = 'yes',
): Promise<DevicePage> => {
  const { status, hidden, html } = await enterCode(app, person, user_code)
  if (status !== 200) throw new Error(`The page rejected the code with ${status}: ${html}`)
  const optional = [...html.matchAll(/name="optional_scope" value="([^"]*)" checked/g)]
  const fields = new URLSearchParams({ ...hidden, confirm })
  for (const [, scope = ''] of optional) fields.append('optional_scope', scope)
  return postToDevicePage(app, person, fields)
}
