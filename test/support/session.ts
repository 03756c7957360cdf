import { createHmac } from 'node:crypto'
import { KeyRing } from '../../src/crypto/sealed.ts'
import { secretKey, type TestServer } from './server.ts'
import { UserAgent } from './user-agent.ts'

/** A browser that is logged in at the notes application, with the values that its page embeds. */
export interface LoggedIn {
  readonly agent: UserAgent
  /** The `Cookie` header of the browser. */
  readonly cookie: string
  /** The session identifier in that cookie. */
  readonly identifier: string
  readonly jwt: string
  /** The CSRF token of the forms on the page of the application. */
  readonly csrfToken: string
}

/** The default `User-Agent` of a browser, to which a session is bound. */
export const browser = 'Mozilla/5.0 (a browser of the tests)'

type Account = Pick<TestServer, 'issuer' | 'user' | 'password'>

/** Logs in through the form, and reads the application's page. The browser sends `headers` with every request. */
export const logIn = async (
  account: Account,
  headers: Record<string, string> = {},
): Promise<LoggedIn> => {
  const agent = new UserAgent({ 'user-agent': browser, ...headers })
  const response = await agent.logIn(account)
  if (response.status !== 303) throw new Error(`The login failed with ${response.status}.`)
  const html = await (await agent.fetch(`${account.issuer}/`)).text()
  const cookie = await agent.jar.getCookieString(`${account.issuer}/`)
  return {
    agent,
    cookie,
    identifier: /oauth2server_session=([^;]*)/.exec(cookie)?.[1] ?? '',
    jwt: field(html, 'authorized_token'),
    csrfToken: field(html, 'csrf_token'),
  }
}

const field = (html: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]+)"`).exec(html)?.[1] ?? ''

/** Returns the claims of a JWT without verifying it. */
export const claimsOf = (jwt: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())

/** Returns the key that signs session JWTs, which is derived from the secret key. */
export const sessionKey = (secret: string = secretKey): Uint8Array => {
  const [key] = new KeyRing([secret]).sessionKeys
  if (!key) throw new Error('The key ring is empty.')
  return key
}

export interface Forgery {
  /** Members of the header that are added to `alg` and `typ`, or replace them; undefined omits a member. */
  readonly header?: Record<string, unknown>
  readonly key?: Uint8Array | string
  readonly hash?: 'sha256' | 'sha384' | 'sha512'
}

/** Creates a JWT with any header, payload and key, including combinations that libraries refuse to sign. */
export const forgedJwt = (
  payload: unknown,
  { header = {}, key = sessionKey(), hash = 'sha256' }: Forgery = {},
): string => {
  const encoded = (value: unknown): string =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
  const signed = `${encoded({ alg: 'HS256', typ: 'session+jwt', ...header })}.${encoded(payload)}`
  return `${signed}.${createHmac(hash, key).update(signed).digest('base64url')}`
}
