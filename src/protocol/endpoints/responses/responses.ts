import type { HttpRequest } from '../../../http/request.ts'
import { HttpResponse, jsonText, noStore } from '../../../http/response.ts'
import type { Html } from '../../../pages/html.ts'
import { destinationOf, type Target } from '../../destinations.ts'
import type { ServerContext } from '../../server-context.ts'

export const jsonResponse = (
  body: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse =>
  new HttpResponse(
    status,
    { ...noStore, 'content-type': 'application/json', ...headers },
    jsonText(body),
  )

export const textResponse = (body: string, contentType: string): Response =>
  new Response(body, { headers: { ...noStore, 'content-type': contentType } })

/** Returns metadata as JSON, which shared caches may store. */
export const metadataResponse = (body: object): Response =>
  new Response(jsonText(body), {
    headers: {
      'content-type': 'application/json',
      'cache-control': 'public, max-age=300',
      'x-content-type-options': 'nosniff',
    },
  })

/** Removes empty lists from metadata (RFC 8414 §3.2, RFC 9728 §3.2), except the members in `kept`. */
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
  /** A CSP source of images, in addition to this server. */
  readonly imageSource?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

// The policy has no `form-action`, because Chromium also applies that directive to every redirect after a form. A client
// may redirect to any origin or app. The page script limits the targets of forms instead (decision 0046).
const contentSecurityPolicy = ({ imageSource }: PageOptions): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'none'",
    "style-src 'self'",
    imageSource === undefined ? "img-src 'self' data:" : `img-src 'self' data: ${imageSource}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/**
 * Returns a page with a strict content security policy. The browser loads scripts and styles only from this server, and
 * no site can show the page in a frame.
 */
export const pageResponse = async (html: Html, options: PageOptions = {}): Promise<Response> => {
  const { status = 200, setCookie, headers = {} } = options
  const response = new Response(`${await html}`, {
    status,
    headers: {
      ...noStore,
      'content-type': 'text/html; charset=utf-8',
      'x-frame-options': 'DENY',
      'content-security-policy': contentSecurityPolicy(options),
      ...headers,
    },
  })
  if (setCookie !== undefined) response.headers.append('set-cookie', setCookie)
  return response
}

type Server = Parameters<typeof destinationOf>[1]

/** Redirects to the canonical URL with 308, which preserves the method and the body. */
export const movedResponse = (page: string, server: Server): Response => {
  const location = destinationOf({ page }, server)
  return new Response(null, { status: 308, headers: { ...noStore, location } })
}

/**
 * Redirects with 303, so that browsers do not send the form to the new URL (RFC 9700 §4.12).
 * @throws OAuthError if the browser must not be sent to this URL
 */
export const redirectResponse = (
  target: Target,
  server: Server,
  ...setCookies: readonly string[]
): Response => {
  const response = new Response(null, {
    status: 303,
    headers: { ...noStore, location: destinationOf(target, server) },
  })
  for (const setCookie of setCookies) response.headers.append('set-cookie', setCookie)
  return response
}

/** Returns the headers that extensions add to a response to a client. */
export const responseHeaders = (
  http: HttpRequest,
  server: ServerContext,
): Readonly<Record<string, string>> =>
  Object.assign(
    {},
    ...server.extensions.map((extension) => extension.responseHeaders?.(http, server)),
  )
