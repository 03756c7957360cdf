import type { Ask, HttpResponse } from './ask.ts'
import { cookieProblems } from './pages.ts'

/** A minimal browser that logs in and consents on the built-in pages. */
export class Browser {
  readonly #ask: Ask
  readonly #issuer: string
  readonly #account: { readonly email: string; readonly password: string }
  readonly #cookies = new Map<string, string>()
  /** The defects of received cookies. */
  readonly cookieProblems = new Set<string>()

  constructor(
    ask: Ask,
    issuer: string,
    account: { readonly email: string; readonly password: string },
  ) {
    this.#ask = ask
    this.#issuer = issuer
    this.#account = account
  }

  /**
   * Sends an authorization request, logs in and consents.
   * @returns the URL of the redirect to the client, or a text with the problem
   */
  async authorize(url: string): Promise<URL | string> {
    let address = url
    let response = await this.#fetch(address)
    // Ten steps are enough for a login and a consent with their redirects.
    for (let steps = 0; steps < 10; steps += 1) {
      const location = response.headers.get('location')
      if (location !== null) {
        const target = new URL(location, address)
        if (target.origin !== new URL(this.#issuer).origin) return target
        address = target.href
        response = await this.#fetch(address)
        continue
      }
      const form = response.status === 200 ? formIn(response.text) : undefined
      if (!form) return `${pathOf(address)} returns ${response.status}`
      const { email, password } = this.#account
      const own = form.asksForPassword ? { email, password } : { confirm: 'yes' }
      address = new URL(form.action, address).href
      const body = new URLSearchParams({ ...form.hidden, ...own })
      response = await this.#fetch(address, { method: 'POST', body })
      if (response.status < 300 || response.status > 399)
        return `sending the form at ${pathOf(address)} returns ${response.status}`
    }
    return 'login and consent redirect in a loop'
  }

  async #fetch(url: string, init: RequestInit = {}): Promise<HttpResponse> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = {
      'user-agent': 'svc-oauth2server doctor',
      ...(cookie === '' ? {} : { cookie }),
    }
    const response = await this.#ask(url, { ...init, headers })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=;]*)=([^;]*)/.exec(set) ?? []
      this.#cookies.set(name, value)
    }
    for (const problem of cookieProblems(response, this.#issuer)) this.cookieProblems.add(problem)
    return response
  }
}

const pathOf = (address: string): string => new URL(address).pathname

interface Form {
  readonly action: string
  readonly hidden: Readonly<Record<string, string>>
  readonly asksForPassword: boolean
}

/** Returns the first POST form of a page; undefined if the page has no POST form. */
const formIn = (html: string): Form | undefined => {
  const forms = html.split('<form').slice(1)
  const form = forms.find((text) => before(text, '>').includes('method="post"'))
  if (form === undefined) return undefined
  const [, ...inputs] = before(form, '</form>').split('<input type="hidden"')
  const fields = inputs.map((input) => [
    attribute(before(input, '>'), 'name'),
    attribute(before(input, '>'), 'value'),
  ])
  return {
    action: attribute(form, 'action'),
    hidden: Object.fromEntries(fields),
    asksForPassword: form.includes('type="password"'),
  }
}

const entities: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  amp: '&',
}

/** Returns the text before the first occurrence of `end`. */
const before = (text: string, end: string): string => text.split(end, 1)[0] ?? ''

const attribute = (tag: string, name: string): string => {
  const parts = tag.split(`${name}="`)
  const at = parts.findIndex((_, index) => index > 0 && !/\w$/.test(parts[index - 1] ?? ''))
  return before(parts[at] ?? '', '"').replaceAll(
    /&(lt|gt|quot|#39|amp);/g,
    (whole, entity: string) => entities[entity] ?? whole,
  )
}
