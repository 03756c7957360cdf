import { Answer, noStore } from '../../../http/answer.ts'
import type { Html } from '../../../pages/html.ts'

export const jsonAnswer = (
  body: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Answer =>
  new Answer(
    status,
    { ...noStore, 'content-type': 'application/json', ...headers },
    JSON.stringify(body),
  )

export const textAnswer = (body: string, contentType: string): Response =>
  new Response(body, { headers: { ...noStore, 'content-type': contentType } })

/** Metadata is the same for everybody. */
export const metadataAnswer = (body: object): Response =>
  Response.json(body, {
    headers: {
      'cache-control': 'public, max-age=300',
      'x-content-type-options': 'nosniff',
    },
  })

/** Members of metadata: a list of nothing is left out (RFC 8414 §3.2, RFC 9728 §3.2), but for these. */
export const withoutEmptyLists = (
  members: Readonly<Record<string, unknown>>,
  kept: readonly string[] = [],
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(members).filter(
      ([name, value]) => kept.includes(name) || !(Array.isArray(value) && value.length === 0),
    ),
  )

export interface PageOptions {
  readonly status?: number | undefined
  readonly setCookie?: string | undefined
  /** Where the redirect after a form of this page may lead, besides here: a CSP source. */
  readonly formAction?: string | undefined
  /** Where images may come from, besides here: a CSP source. */
  readonly imageSource?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

const contentSecurityPolicy = ({ formAction, imageSource }: PageOptions): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'none'",
    "style-src 'self'",
    sources("img-src 'self' data:", imageSource),
    "base-uri 'none'",
    "frame-ancestors 'none'",
    sources("form-action 'self'", formAction),
  ].join('; ')

const sources = (directive: string, further: string | undefined): string =>
  further === undefined ? directive : `${directive} ${further}`

/** A page under a strict content security policy: our own script and style alone, and no frame. */
export const pageAnswer = async (html: Html, options: PageOptions = {}): Promise<Response> => {
  const { status = 200, setCookie, headers = {} } = options
  const answer = new Response(`${await html}`, {
    status,
    headers: {
      ...noStore,
      'content-type': 'text/html; charset=utf-8',
      'x-frame-options': 'DENY',
      'content-security-policy': contentSecurityPolicy(options),
      ...headers,
    },
  })
  if (setCookie !== undefined) answer.headers.append('set-cookie', setCookie)
  return answer
}

/** 308: the same request, at the address that it was meant for. */
export const movedAnswer = (location: string): Response =>
  new Response(null, { status: 308, headers: { ...noStore, location } })

/** 303, so that no browser sends the body of a form on to where it is redirected (RFC 9700 §4.12). */
export const redirectAnswer = (location: string, ...setCookies: readonly string[]): Response => {
  const answer = new Response(null, {
    status: 303,
    headers: { ...noStore, location },
  })
  for (const setCookie of setCookies) answer.headers.append('set-cookie', setCookie)
  return answer
}
