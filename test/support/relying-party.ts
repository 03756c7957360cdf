import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose'
import type { ClientInput } from 'svc-oauth2server'
import { expect } from 'vitest'
import type { TestServer } from './server.ts'
import { formIn, type Proof, TestClient, type TokenBody, UserAgent } from './user-agent.ts'

type Given = Record<string, string | undefined>

/** The end of an authorization request in the browser. */
export interface Visit {
  /** The forms that the user filled in. */
  readonly asked: readonly ('login' | 'consent')[]
  /** The parameters that the client received; undefined if the browser ends on a page of the server. */
  readonly params: Readonly<Record<string, string>> | undefined
  /** The method with which the browser called the redirect URI. */
  readonly method: 'GET' | 'POST'
  /** The status of the last page of the server. */
  readonly status: number
}

/** The claims about the user that the application returns. */
export const person = {
  name: 'Ada Lovelace',
  given_name: 'Ada',
  family_name: 'Lovelace',
  birthdate: '1915-12-10',
  address: { country: 'GB' },
  phone_number: '+44 20 7946 0000',
  phone_number_verified: true,
}

/** A client of OpenID Connect with its own browser. It sends the requests of the OpenID Foundation's suite. */
export class RelyingParty {
  readonly agent = new UserAgent()
  readonly client: TestClient
  readonly #usual: Given

  /** @param usual parameters of every authorization request */
  constructor(client: TestClient, usual: Given = {}) {
    this.client = client
    this.#usual = usual
  }

  static async register(
    app: TestServer,
    { usual, ...input }: Partial<ClientInput> & { readonly usual?: Given } = {},
    proof?: Proof,
  ): Promise<RelyingParty> {
    return new RelyingParty(await TestClient.register(app, new UserAgent(), input, proof), usual)
  }

  /** Returns the URL of an authorization request without PKCE; undefined omits a parameter. */
  url(given: Given = {}): string {
    return this.client.url({
      scope: 'openid',
      nonce: 'n-0S6',
      code_challenge: undefined,
      code_challenge_method: undefined,
      ...this.#usual,
      ...given,
    })
  }

  visit(given: Given = {}): Promise<Visit> {
    return this.open(this.url(given))
  }

  /** Opens the URL, and fills in every form that the server shows. */
  async open(url: string, init: RequestInit = {}): Promise<Visit> {
    const { app, redirectUri } = this.client
    const asked: ('login' | 'consent')[] = []
    let page = await this.agent.browse(url, init)
    for (let forms = 0; forms < 4; forms += 1) {
      const location = page.headers.get('location')
      if (location !== null)
        return { asked, params: parametersAt(redirectUri, location), method: 'GET', status: 303 }
      const { status } = page
      const { action, hidden } = formIn(await page.clone().text())
      if (action === redirectUri) return { asked, params: hidden, method: 'POST', status }
      if (status !== 200) return { asked, params: undefined, method: 'GET', status }
      const isLogin = page.address.includes('/login')
      asked.push(isLogin ? 'login' : 'consent')
      const { email } = app.user
      const answer = await this.agent.submit(
        page,
        isLogin ? { email, password: app.password } : { confirm: 'yes' },
      )
      const next = answer.headers.get('location')
      const isOwn = next !== null && new URL(next, page.address).origin === app.issuer
      page = isOwn
        ? await this.agent.browse(new URL(next, page.address))
        : Object.assign(answer, { address: page.address })
    }
    throw new Error('The server asks again and again.')
  }

  /** Completes the code flow. @returns the tokens, and the forms that the user filled in */
  async logIn(given: Given = {}): Promise<TokenBody & Pick<Visit, 'asked'>> {
    const { params, asked } = await this.visit(given)
    expect(params).toMatchObject({ code: expect.any(String), iss: this.client.app.issuer })
    const { status, body } = await this.redeem(params?.code)
    expect(status).toBe(200)
    return { ...body, asked }
  }

  redeem(code = '', given: Given = {}): ReturnType<TestClient['redeem']> {
    return this.client.redeem(code, { code_verifier: undefined, ...given })
  }

  /** Returns the claims of a valid ID token for this client. */
  async claims({ id_token = '' }: Pick<TokenBody, 'id_token'>): Promise<JWTPayload> {
    const { app, clientId } = this.client
    const { payload } = await jwtVerify(
      id_token,
      createRemoteJWKSet(new URL(`${app.issuer}/oauth/jwks`)),
      {
        issuer: app.issuer,
        audience: clientId,
        currentDate: new Date(app.now()),
      },
    )
    return payload
  }

  userinfo({ access_token }: Pick<TokenBody, 'access_token'>, init: RequestInit = {}) {
    return fetch(`${this.client.app.issuer}/oauth/userinfo`, {
      headers: { authorization: `Bearer ${access_token}` },
      ...init,
    })
  }

  /** Returns the claims at the userinfo endpoint. */
  async info(tokens: Pick<TokenBody, 'access_token'>): Promise<Record<string, unknown>> {
    return (await (await this.userinfo(tokens)).json()) as Record<string, unknown>
  }
}

const parametersAt = (redirectUri: string, location: string): Record<string, string> => {
  expect(location.startsWith(redirectUri), location).toBe(true)
  const { searchParams, hash } = new URL(location)
  return Object.fromEntries([...searchParams, ...new URLSearchParams(hash.slice(1))])
}

/** Returns an unsigned request object. OpenID Connect Core §6.1. */
export const requestObject = (claims: object): string =>
  [{ alg: 'none' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
    .concat('.')
