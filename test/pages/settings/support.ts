import { execFileSync } from 'node:child_process'
import type { User } from 'svc-oauth2server'
import { unescaped } from '../../support/html.ts'
import type { TestServer } from '../../support/server.ts'
import { type LoggedIn, logIn } from '../../support/session.ts'

const list = '/account/settings/applications/'

/** The paths of the settings pages (decision §2). */
export const at = {
  list,
  newClient: `${list}clients/new/`,
  client: (clientId: string) => `${list}clients/${clientId}/`,
  reset: (clientId: string) => `${list}clients/${clientId}/reset/`,
  clients: `${list}clients/`,
  tokens: `${list}tokens/`,
  authorized: `${list}authorized/`,
  selectedTokens: `${list}tokens/selected/`,
  selectedApplications: `${list}authorized/selected/`,
  undo: `${list}tokens/undo/`,
  newToken: `${list}tokens/new/`,
  token: (id: number | string) => `${list}tokens/${id}/`,
  rotate: (id: number | string) => `${list}tokens/${id}/rotate/`,
  view: (id: number | string) => `${list}tokens/${id}/view/`,
  revoke: (id: number | string) => `${list}tokens/${id}/revoke/`,
  revokeApplication: (clientId: string) => `${list}authorized/${clientId}/revoke/`,
  revokeAll: `${list}authorized/revoke/`,
  sessions: '/account/settings/sessions/',
  password: '/account/settings/password/',
  verifyEmail: '/account/settings/verify-email/',
  activity: '/account/settings/activity/',
  leaked: '/account/settings/leaked/',
  adminHome: '/admin/overview/',
  admin: '/admin/applications/',
  adminApplication: (clientId: string) => `/admin/applications/${encodeURIComponent(clientId)}/`,
  adminTokens: '/admin/tokens/',
  adminUsers: '/admin/users/',
  adminUser: (id: number | string) => `/admin/users/${encodeURIComponent(id)}/`,
  adminActivity: '/admin/activity/',
} as const

/** The fields of a form. A list is a repeated field, and an undefined field is omitted. */
export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>

/** Encodes a form as a browser does, with CRLF as line breaks. */
export const body = (fields: Fields): URLSearchParams =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value = []]) =>
      [value].flat().map((one): [string, string] => [name, one.replaceAll(/\r?\n/g, '\r\n')]),
    ),
  )

/** A form on a page, with the values that a browser would send. */
export interface Form {
  readonly action: string
  readonly fields: Readonly<Record<string, readonly string[]>>
  /** The name and the value of each button that submits the form; empty for a button without a name. */
  readonly buttons: readonly (readonly [name: string, value: string])[]
}

/** A page or a redirect that the server returned. */
export class Page {
  readonly status: number
  readonly headers: Headers
  readonly html: string

  constructor({ status, headers }: Response, html: string) {
    this.status = status
    this.headers = headers
    this.html = html
  }

  get location(): string | null {
    return this.headers.get('location')
  }

  get title(): string {
    return unescaped(/<title>([^<]*)<\/title>/.exec(this.html)?.[1] ?? '')
  }

  /** The visible text of the page as one line. */
  get text(): string {
    return textOf(/<body>[\s\S]*<\/body>/.exec(this.html)?.[0] ?? '')
  }

  /** The error message of the page. */
  get alert(): string {
    const [, sentence] = /<p class="notice" role="alert">([\s\S]*?)<\/p>/.exec(this.html) ?? []
    return textOf(sentence ?? this.summary.join(' '))
  }

  /** The summary of the invalid fields. */
  get summary(): readonly string[] {
    const [, list = ''] =
      /role="alert"[^>]* autofocus>[\s\S]*?<ul>([\s\S]*?)<\/ul>/.exec(this.html) ?? []
    return [...list.matchAll(/<li>([\s\S]*?)<\/li>/g)].map(([, item = '']) => textOf(item))
  }

  /** The success message of the page. */
  get done(): string {
    return textOf(/<p class="notice" role="status">([\s\S]*?)<\/p>/.exec(this.html)?.[1] ?? '')
  }

  /** The notice that reports neither a success nor a problem. */
  get note(): string {
    const [, sentence = ''] =
      /<p class="notice neutral" role="status">([\s\S]*?)<\/p>/.exec(this.html) ?? []
    return textOf(sentence)
  }

  /** Returns the error next to a field, or undefined. */
  wrong(field: string): string | undefined {
    const found = new RegExp(`<p class="wrong" id="${field}-problem">([\\s\\S]*?)</p>`)
    const sentence = found.exec(this.html)?.[1]
    return sentence === undefined ? undefined : textOf(sentence)
  }

  /** Returns the text, such as a secret or a command, that users can copy from the element with the ID. */
  copied(id: string): string | undefined {
    const found = new RegExp(`<(?:code|pre) id="${id}"[^>]*>([\\s\\S]*?)</(?:code|pre)>`)
    const value = found.exec(this.html)?.[1]
    return value === undefined ? undefined : unescaped(value.replaceAll(/<\/?code>/g, ''))
  }

  /** Returns the value for a term of a description list. */
  fact(term: string): string | undefined {
    const found = this.html.split(`<dt>${term}</dt><dd>`)[1]
    return found === undefined ? undefined : textOf(found.split('</dd>')[0] ?? '')
  }

  /** The URL of the image with which the browser confirms that it received the page; undefined without a notice. */
  get seen(): string | undefined {
    const address = /<img src="([^"]*\?seen=[^"]*)"/.exec(this.html)?.[1]
    return address === undefined ? undefined : unescaped(address)
  }

  /** The HTML of each list item. */
  get items(): readonly string[] {
    const [, ...items] = this.html.split(
      /<li>(?=(?:<label class="pick">.*?<\/label>)?<div class="name">\s*<h[23]>)/,
    )
    return items.map((item) => item.split(/<\/section>|<\/main>/)[0] ?? '')
  }

  /** The names of the list items. */
  get names(): readonly string[] {
    return this.items.map((item) => textOf(/<h[23]>([\s\S]*?)<\/h[23]>/.exec(item)?.[1] ?? ''))
  }

  /** Returns the HTML of the list item that contains the text. Throws unless exactly one item does. */
  item(text: string): string {
    const found = this.items.filter((item) => textOf(item).includes(text))
    if (found.length !== 1) throw new Error(`${found.length} items contain ${text}.`)
    return found[0] ?? ''
  }

  get forms(): readonly Form[] {
    return formsIn(this.html)
  }

  /** Returns the form with the action and, if given, the field. Throws unless exactly one form matches. */
  form(action: string, field?: string): Form {
    const found = this.forms.filter(
      (form) => form.action === action && (field === undefined || field in form.fields),
    )
    if (found.length !== 1) throw new Error(`${found.length} forms are sent to ${action}.`)
    return found[0] as Form
  }
}

/** Returns the visible text of HTML as one line. */
export const textOf = (html: string): string =>
  unescaped(html.replaceAll(/<\/?(?:bdi|strong)>/g, '').replaceAll(/<(?:"[^"]*"|[^">])*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim()

const attribute = (tag: string, name: string): string | undefined => {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]
  return value === undefined ? undefined : unescaped(value)
}

/** Returns the POST forms of a page. */
export const formsIn = (html: string): readonly Form[] =>
  [...html.matchAll(/<form\b((?:"[^"]*"|[^">])*)>([\s\S]*?)<\/form>/g)]
    .filter(([, tag = '']) => attribute(tag, 'method') === 'post')
    .map(([, tag = '', content = '']) => {
      const fields: Record<string, string[]> = {}
      for (const [name, value] of controlsIn(content))
        fields[name] = [...(fields[name] ?? []), value]
      const buttons = [...content.matchAll(/<button\b((?:"[^"]*"|[^">])*)>/g)].map(
        ([, button = '']) =>
          [attribute(button, 'name') ?? '', attribute(button, 'value') ?? ''] as const,
      )
      return { action: attribute(tag, 'action') ?? '', fields, buttons }
    })

const tag = '((?:"[^"]*"|[^">])*)'
const control = new RegExp(
  [
    `<input\\b${tag}>`,
    `<textarea\\b${tag}>\\n?([\\s\\S]*?)</textarea>`,
    `<select\\b${tag}>([\\s\\S]*?)</select>`,
  ].join('|'),
  'g',
)

const controlsIn = (html: string): readonly [string, string][] =>
  [...html.matchAll(control)].flatMap(([, input, textarea, typed = '', select, options = '']) => {
    const tag = input ?? textarea ?? select ?? ''
    const name = attribute(tag, 'name')
    const isLeftOut = /\stype="(?:checkbox|radio)"/.test(tag) && !/\schecked\b/.test(tag)
    if (name === undefined || isLeftOut) return []
    if (textarea !== undefined) return [[name, unescaped(typed)]]
    return [[name, attribute(select === undefined ? tag : options, 'value') ?? '']]
  })

const htmlFirst = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

/** A logged-in user with a browser, who opens pages and sends forms. */
export class Person {
  readonly app: TestServer
  readonly session: LoggedIn
  readonly user: User

  constructor(app: TestServer, session: LoggedIn, user: User) {
    this.app = app
    this.session = session
    this.user = user
  }

  /** Logs in as the user of the server, or as another user with the same password. */
  static async logIn(
    app: TestServer,
    {
      user = app.user,
      headers = {},
    }: { readonly user?: User; readonly headers?: Record<string, string> } = {},
  ): Promise<Person> {
    const account = { issuer: app.issuer, user, password: app.password }
    return new Person(app, await logIn(account, { accept: htmlFirst, ...headers }), user)
  }

  /** Creates another user, and logs in as this user. */
  static async stranger(
    app: TestServer,
    input: Partial<Pick<User, 'email' | 'isAdmin' | 'emailVerified'>> = {},
  ): Promise<Person> {
    strangers += 1
    const email = `stranger-${strangers}@example.org`
    return Person.logIn(app, { user: await app.newUser({ email, ...input }) })
  }

  /** Sends a request, but does not load the image with which a browser confirms that it received a page. */
  async rawRequest(path: string, init: RequestInit = {}): Promise<Page> {
    const response = await this.session.agent.fetch(new URL(path, this.app.issuer), init)
    return new Page(response, await response.text())
  }

  async request(path: string, init: RequestInit = {}): Promise<Page> {
    const page = await this.rawRequest(path, init)
    if (page.seen !== undefined) await this.rawRequest(page.seen)
    return page
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Page> {
    return this.request(path, { headers })
  }

  /** Sends the given fields without a CSRF token. */
  postRaw(path: string, fields: Fields, headers: Record<string, string> = {}): Promise<Page> {
    return this.request(path, { method: 'POST', body: body(fields), headers })
  }

  /** Sends the given fields with the CSRF token of the session. */
  post(path: string, fields: Fields = {}, headers: Record<string, string> = {}): Promise<Page> {
    return this.postRaw(path, { csrf_token: this.session.csrfToken, ...fields }, headers)
  }

  /** Sends a form with its values, except for the given changes. */
  send({ action, fields }: Form, changes: Fields = {}): Promise<Page> {
    return this.postRaw(action, { ...fields, ...changes })
  }

  /** Opens a page, and sends its form whose action is the path of the page. */
  async fill(path: string, changes: Fields): Promise<Page> {
    return this.send((await this.get(path)).form(path, 'name'), changes)
  }

  /** Opens the target of a redirect. */
  async follow({ status, location }: Page): Promise<Page> {
    if (status !== 303 || location === null) throw new Error(`The response is ${status}.`)
    return this.get(location)
  }
}

let strangers = 0

/** Returns the ID at the end of a path such as `…/clients/{id}/`. */
export const idIn = (location: string | null): string =>
  /\/(?:clients|tokens)\/([^/]+)\/$/.exec(location ?? '')?.[1] ?? ''

/** Splits a command into words as a shell does. */
const wordsOf = (command: string): readonly string[] =>
  execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)

/** Sends the request that a `curl` command on a page describes, without running `curl`. Returns the response. */
export const curl = async (line: string): Promise<{ status: number; body: string }> => {
  const [program, ...words] = wordsOf(line)
  if (program !== 'curl') throw new Error(`${program} is not curl.`)
  const headers = new Headers()
  const data = new URLSearchParams()
  let url = ''
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? ''
    const value = words[index + 1] ?? ''
    const [name = '', ...rest] = value.split('=')
    if (word === '-H') headers.set(value.replace(/:.*/s, ''), value.replace(/^.*?: */s, ''))
    else if (word === '-u') headers.set('authorization', `Basic ${btoa(value)}`)
    else if (word === '-d' || word === '--data-urlencode') data.append(name, rest.join('='))
    else if (word.startsWith('-')) throw new Error(`The tests do not know ${word}.`)
    else url = word
    if (word.startsWith('-')) index += 1
  }
  const response = await fetch(
    url,
    data.size === 0 ? { headers } : { method: 'POST', headers, body: data },
  )
  return { status: response.status, body: (await response.text()).trimEnd() }
}
