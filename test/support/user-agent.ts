import { createHash, randomBytes } from 'node:crypto'
import { CookieJar } from 'tough-cookie'
import type { TestServer } from './server.ts'

/** A browser without a screen: keeps cookies, follows no redirect by itself, and submits forms as they stand. */
export class UserAgent {
  readonly jar = new CookieJar(undefined, { allowSecureOnLocal: true } as object)
  readonly #headers: Record<string, string>

  constructor(headers: Record<string, string> = {}) {
    this.#headers = headers
  }

  async fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const cookie = await this.jar.getCookieString(String(url))
    const headers = new Headers({ ...this.#headers, ...(cookie === '' ? {} : { cookie }) })
    new Headers(init.headers).forEach((value, name) => {
      headers.set(name, value)
    })
    const response = await fetch(url, { redirect: 'manual', ...init, headers })
    for (const value of response.headers.getSetCookie())
      await this.jar.setCookie(value, String(url))
    return response
  }

  /** Follows redirects within the server's origin; answers what leads away, or the page where it ends. */
  async browse(
    url: string | URL,
    init: RequestInit = {},
  ): Promise<Response & { readonly address: string }> {
    let address = new URL(url).href
    let response = await this.fetch(address, init)
    for (let hops = 0; hops < 10; hops += 1) {
      const location = response.headers.get('location')
      if (location === null) break
      const target = new URL(location, address)
      if (target.origin !== new URL(address).origin) break
      await response.body?.cancel()
      address = target.href
      response = await this.fetch(address)
    }
    return Object.assign(response, { address })
  }

  /** Submits the form of a page with its hidden fields, the given ones added. */
  async submit(
    page: Response & { readonly address?: string },
    fields: Record<string, string>,
  ): Promise<Response> {
    const { action, hidden } = formIn(await page.text())
    const url = new URL(action, page.address ?? page.url)
    return this.fetch(url, { method: 'POST', body: new URLSearchParams({ ...hidden, ...fields }) })
  }

  async logIn({
    issuer,
    user,
    password,
  }: Pick<TestServer, 'issuer' | 'user' | 'password'>): Promise<Response> {
    return this.submit(await this.browse(`${issuer}/login`), { email: user.email, password })
  }

  /** Goes through login and consent where they are shown; answers where the user agent is finally sent. */
  async authorize(
    server: Pick<TestServer, 'issuer' | 'user' | 'password'>,
    url: string | URL,
    confirm: 'yes' | 'no' = 'yes',
  ): Promise<URL> {
    let page = await this.browse(url)
    for (let forms = 0; forms < 4; forms += 1) {
      const location = page.headers.get('location')
      if (location !== null) return new URL(location, page.address)
      const isLogin = page.address.includes('/login')
      if (page.status !== 200) return new URL(page.address)
      const fields = isLogin ? { email: server.user.email, password: server.password } : { confirm }
      const answer = await this.submit(page, fields as Record<string, string>)
      const next = answer.headers.get('location')
      if (next === null) throw new Error(`The form was answered with ${answer.status}.`)
      const target = new URL(next, page.address)
      if (target.origin !== new URL(page.address).origin) return target
      page = await this.browse(target)
    }
    throw new Error('Login and consent lead to no end.')
  }
}

/** The first form of a page that posts: where to, and its hidden fields. */
export const formIn = (html: string): { action: string; hidden: Record<string, string> } => {
  const [form = ''] = /<form method="post"[\s\S]*?<\/form>/.exec(html) ?? []
  const action = attribute(form, 'action') ?? ''
  const fields = [...form.matchAll(/<input type="hidden"[^>]*>/g)].map(([input]) => [
    attribute(input, 'name') ?? '',
    attribute(input, 'value') ?? '',
  ])
  return { action, hidden: Object.fromEntries(fields) }
}

const attribute = (tag: string, name: string): string | undefined => {
  const value = new RegExp(`${name}="([^"]*)"`).exec(tag)?.[1]
  return value
    ?.replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

export interface Pkce {
  readonly verifier: string
  readonly challenge: string
}

export const newPkce = (): Pkce => {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** The address of an authorization request; a parameter that is undefined is left out. */
export const authorizeUrl = (
  issuer: string,
  parameters: Record<string, string | undefined>,
): string => {
  const given = Object.entries({ response_type: 'code', ...parameters }).filter(
    (pair) => pair[1] !== undefined,
  )
  return `${issuer}/oauth/authorize?${new URLSearchParams(given as [string, string][])}`
}

/** A token request by hand, with the client's secret in the body, in a Basic header, or without one. */
export const tokenRequest = async (
  issuer: string,
  parameters: Record<string, string | undefined>,
  {
    basic,
    headers = {},
  }: { basic?: { clientId: string; clientSecret: string }; headers?: Record<string, string> } = {},
): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> => {
  const given = Object.entries(parameters).filter((pair) => pair[1] !== undefined) as [
    string,
    string,
  ][]
  const credentials =
    basic && btoa(`${encodeURIComponent(basic.clientId)}:${encodeURIComponent(basic.clientSecret)}`)
  const response = await fetch(`${issuer}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(given),
    headers: { ...headers, ...(credentials ? { authorization: `Basic ${credentials}` } : {}) },
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  }
}
