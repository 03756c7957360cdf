import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import type { ClientInput } from '../../index.ts'
import type { HttpResponse } from './ask.ts'
import { stranger } from './cross-origin.ts'
import { type Examination, endpointOf } from './examination.ts'

/** The redirect URI of the test application. No request is sent to it. */
export const callback = `${stranger}/callback`

const random = (): string => randomBytes(32).toString('base64url')
const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** A key pair of the test application. */
export interface Key {
  readonly jwk: JWK
  readonly privateKey: CryptoKey
}

export const newKey = async (): Promise<Key> => {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid: 'doctor' } }
}

const methods = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const
type Method = (typeof methods)[number]

/** Returns the client authentication methods that both the server and this program support, the simplest first. */
export const methodsOf = ({ metadata }: Pick<Examination, 'metadata'>): readonly Method[] => {
  const offered = metadata.token_endpoint_auth_methods_supported
  return methods.filter((method) => Array.isArray(offered) && offered.includes(method))
}

/** Returns the registration of a test application that uses this client authentication method. */
export const registration = (method: Method, { jwk }: Key): Partial<ClientInput> => ({
  isConfidential: method !== 'none',
  tokenEndpointAuthMethod: method,
  redirectUris: [callback],
  ...(method === 'private_key_jwt' ? { jwks: JSON.stringify({ keys: [jwk] }) } : {}),
})

export interface Registered {
  readonly clientId: string
  readonly clientSecret: string
  readonly method: Method
  readonly key: Key
}

/** A client application for the examination. */
export class Application {
  readonly #examination: Examination
  readonly #registered: Registered
  #nonce: string | undefined

  constructor(examination: Examination, registered: Registered) {
    this.#examination = examination
    this.#registered = registered
  }

  get isConfidential(): boolean {
    return this.#registered.method !== 'none'
  }

  /** Creates an authorization request. Undefined parameters are omitted. */
  newRequest(given: Readonly<Record<string, string | undefined>> = {}): AuthorizationRequest {
    const verifier = random()
    const state = random()
    const all = Object.entries({
      response_type: 'code',
      client_id: this.#registered.clientId,
      redirect_uri: callback,
      state,
      code_challenge: sha256(verifier),
      code_challenge_method: 'S256',
      ...given,
    })
    const params = Object.fromEntries(
      all.filter((pair): pair is [string, string] => pair[1] !== undefined),
    )
    return { verifier, state, params }
  }

  /**
   * Returns the URL of an authorization request. Pushes the request if the server supports pushed requests. If the
   * server refuses the pushed request, returns a text with the error.
   */
  async urlOf({ params }: AuthorizationRequest): Promise<URL | string> {
    const url = new URL(endpointOf(this.#examination, 'authorization_endpoint') ?? '')
    const push = endpointOf(this.#examination, 'pushed_authorization_request_endpoint')
    if (push === undefined) {
      url.search = new URLSearchParams(params).toString()
      return url
    }
    const { status, json } = await this.#post(push, params)
    if (status !== 201)
      return `the response to the pushed request is ${status} ${json?.error ?? ''}`.trim()
    url.search = new URLSearchParams({
      client_id: this.#registered.clientId,
      request_uri: String(json?.request_uri),
    }).toString()
    return url
  }

  token(params: Readonly<Record<string, string>>): Promise<HttpResponse> {
    return this.#post(endpointOf(this.#examination, 'token_endpoint') ?? '', params)
  }

  redeem(code: string, { verifier }: AuthorizationRequest): Promise<HttpResponse> {
    const grant = { grant_type: 'authorization_code', code, redirect_uri: callback }
    return this.token({ ...grant, code_verifier: verifier })
  }

  refresh(token: string): Promise<HttpResponse> {
    return this.token({ grant_type: 'refresh_token', refresh_token: token })
  }

  revoke(endpoint: string, token: string): Promise<HttpResponse> {
    return this.#post(endpoint, { token })
  }

  /** Sends a request with an access token. */
  async use(url: string, token: string): Promise<HttpResponse> {
    const scheme = this.#isBound() ? 'DPoP' : 'Bearer'
    const ask = async () =>
      this.#examination.ask(url, {
        headers: { authorization: `${scheme} ${token}`, ...(await this.#proof('GET', url, token)) },
      })
    return this.#again(await ask(), ask)
  }

  async #post(url: string, params: Readonly<Record<string, string>>): Promise<HttpResponse> {
    const ask = async () => {
      const { headers, fields } = await this.#credentials()
      return this.#examination.ask(url, {
        method: 'POST',
        headers: { ...headers, ...(await this.#proof('POST', url)) },
        body: new URLSearchParams({ ...params, ...fields }),
      })
    }
    return this.#again(await ask(), ask)
  }

  /** Repeats a refused request if the response contains a new DPoP nonce (RFC 9449 §8). */
  async #again(response: HttpResponse, ask: () => Promise<HttpResponse>): Promise<HttpResponse> {
    const nonce = response.headers.get('dpop-nonce')
    const isNew = nonce !== null && nonce !== this.#nonce
    if (nonce !== null) this.#nonce = nonce
    return isNew && this.#isBound() && response.status >= 400 ? ask() : response
  }

  async #credentials(): Promise<{
    readonly headers: Readonly<Record<string, string>>
    readonly fields: Readonly<Record<string, string>>
  }> {
    const { clientId, clientSecret, method, key } = this.#registered
    if (method === 'none') return { headers: {}, fields: { client_id: clientId } }
    if (method === 'client_secret_basic') {
      const credentials = btoa(
        `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`,
      )
      return { headers: { authorization: `Basic ${credentials}` }, fields: {} }
    }
    if (method === 'client_secret_post')
      return { headers: {}, fields: { client_id: clientId, client_secret: clientSecret } }
    const assertion = await new SignJWT({ iss: clientId, sub: clientId, jti: randomUUID() })
      .setProtectedHeader({ alg: 'ES256', kid: 'doctor' })
      .setAudience(String(this.#examination.metadata.issuer))
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(key.privateKey)
    const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    return {
      headers: {},
      fields: { client_id: clientId, client_assertion_type: type, client_assertion: assertion },
    }
  }

  /** Returns whether the server requires access tokens that are bound to a DPoP key (RFC 9728 §2). */
  #isBound(): boolean {
    return this.#examination.metadata.dpop_bound_access_tokens_required === true
  }

  /** Returns the header with a DPoP proof (RFC 9449 §4.2); no header if the server does not require DPoP. */
  async #proof(
    method: string,
    url: string,
    token?: string,
  ): Promise<Readonly<Record<string, string>>> {
    if (!this.#isBound()) return {}
    const { key } = this.#registered
    const { kid: _kid, ...jwk } = key.jwk
    const { issuer, metadata } = this.#examination
    // Use the issuer's URL, which may differ from the URL at which this program reaches the server.
    const htu = url.replace(issuer, String(metadata.issuer))
    const claims = {
      htm: method,
      htu,
      jti: randomUUID(),
      ...(token === undefined ? {} : { ath: sha256(token) }),
      ...(this.#nonce === undefined ? {} : { nonce: this.#nonce }),
    }
    const proof = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .setIssuedAt()
      .sign(key.privateKey)
    return { dpop: proof }
  }
}

export interface AuthorizationRequest {
  readonly params: Readonly<Record<string, string>>
  readonly verifier: string
  readonly state: string
}
