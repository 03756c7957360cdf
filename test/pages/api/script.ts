import { query } from '../../support/database.ts'
import type { TestServer } from '../../support/server.ts'
import { browser, type LoggedIn, logIn } from '../../support/session.ts'

/** A parsed response to a script. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed JSON, or the text of any other body. */
  readonly body: unknown
}

export const read = async (response: Response): Promise<HttpResponse> => {
  const text = await response.text()
  const isJson = response.headers.get('content-type') === 'application/json'
  const { status, headers } = response
  return { status, headers, text, body: isJson ? JSON.parse(text) : text }
}

export type Fields = Readonly<Record<string, unknown>>

/** A script in a page of a logged-in user. Sends the cookie and the JWT of the session, and requests JSON. */
export class Script {
  readonly app: TestServer
  readonly session: LoggedIn

  constructor(app: TestServer, session: LoggedIn) {
    this.app = app
    this.session = session
  }

  /** Logs in as the user of the server, or as another user with the same password. */
  static async logIn(app: TestServer, user = app.user): Promise<Script> {
    return new Script(app, await logIn({ ...app, issuer: app.issuer, user }))
  }

  /** The headers that identify the browser and authenticate the script. */
  get headers(): Readonly<Record<string, string>> {
    const { cookie, jwt } = this.session
    return { accept: 'application/json', cookie, 'user-agent': browser, ...bearer(jwt) }
  }

  async send(path: string, init: RequestInit = {}): Promise<HttpResponse> {
    const headers = { ...this.headers, ...(init.headers as Record<string, string> | undefined) }
    const url = new URL(path, this.app.issuer)
    return read(await fetch(url, { redirect: 'manual', ...init, headers }))
  }

  get(path: string): Promise<HttpResponse> {
    return this.send(path)
  }

  /** Sends the fields as JSON. Without fields, sends no body. */
  post(path: string, fields?: Fields): Promise<HttpResponse> {
    return fields === undefined
      ? this.send(path, { method: 'POST' })
      : this.postText(path, JSON.stringify(fields))
  }

  postText(path: string, body: string, type = 'application/json'): Promise<HttpResponse> {
    return this.send(path, { method: 'POST', body, headers: { 'content-type': type } })
  }

  postForm(path: string, fields: Fields): Promise<HttpResponse> {
    return this.send(path, { method: 'POST', body: formOf(fields) })
  }
}

export const bearer = (token: string): { readonly authorization: string } => ({
  authorization: `Bearer ${token}`,
})

/** Converts fields to a form: repeats the field for each item of a list, and omits null. */
export const formOf = (fields: Fields): URLSearchParams => {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, String(one ?? '')]),
  )
  return new URLSearchParams(pairs)
}

const tables = [
  ['client', '*'],
  ['token', 'id, client_key, user_id, access_token_digest, expires, scopes, successor_id'],
  ['authorization', '*'],
  ['consent', '*'],
  ['session', 'id, user_id, address, user_agent'],
  // Exclude routine events, which the server writes in the background at an unknown time.
  ['audit', '*', 'where is_routine = 0'],
] as const

/** Returns a dump of all data that the settings can change. */
export const written = ({ database }: TestServer): unknown =>
  tables.map(([table, columns, which = '']) =>
    query(database, `select ${columns} from oauth2server_${table} ${which}`),
  )

export const applications = '/account/settings/applications'
export const sessions = '/account/settings/sessions/'
export const admin = '/admin/applications/'
