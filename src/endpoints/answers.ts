import type { HtmlEscapedString } from 'hono/utils/html'

/**
 * Nothing that carries a credential, or was made for one user, is kept by a cache (RFC 6749 §5.1); nor is
 * the address it came from sent on, in which a token may stand (RFC 6750 §5.3).
 */
const noStore = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

export const jsonAnswer = (
  body: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response => Response.json(body, { status, headers: { ...noStore, ...headers } })

/** Metadata is the same for everybody, and clients in a browser may read it: CORS without credentials. */
export const metadataAnswer = (body: object): Response =>
  Response.json(body, {
    headers: {
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    },
  })

export interface PageOptions {
  readonly status?: number
  readonly setCookie?: string | undefined
  /** Where the redirect after a form of this page may lead, besides here: a CSP source. */
  readonly formAction?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

const pageHeaders = (formAction: string | undefined): Readonly<Record<string, string>> => ({
  ...noStore,
  'content-type': 'text/html; charset=utf-8',
  'x-frame-options': 'DENY',
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    `form-action 'self'${formAction === undefined ? '' : ` ${formAction}`}`,
  ].join('; '),
})

/** A page under a strict content security policy: no script, no inline style, no frame. */
export const pageAnswer = async (
  html: HtmlEscapedString | Promise<HtmlEscapedString>,
  { status = 200, setCookie, formAction, headers = {} }: PageOptions = {},
): Promise<Response> => {
  const answer = new Response(`${await html}`, {
    status,
    headers: { ...pageHeaders(formAction), ...headers },
  })
  if (setCookie !== undefined) answer.headers.append('set-cookie', setCookie)
  return answer
}

/** 303, so that no browser sends the body of a form on to where it is redirected (RFC 9700 §4.12). */
export const redirectAnswer = (location: string, setCookie?: string): Response => {
  const answer = new Response(null, {
    status: 303,
    headers: { ...noStore, location },
  })
  if (setCookie !== undefined) answer.headers.append('set-cookie', setCookie)
  return answer
}
