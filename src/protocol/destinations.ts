import { type Client, isTrusted } from '../model/client.ts'
import { keptMetadata } from '../model/client-metadata.ts'
import { OAuthError } from '../model/oauth-error.ts'
import { isRegistered } from '../model/redirect-uri.ts'
import type { Identity, ServerContext } from './server-context.ts'

/** A page of this server, or the login or logout page of the application. The server built the URL. */
interface ToPage {
  readonly page: string
}

/** A path that the request contains, such as `next`: all values of the parameter. */
interface ToPath {
  readonly path: readonly string[]
}

/** A visitor whom the server could send to a client. */
export interface Visit {
  readonly client: Client
  /** Whether the visitor is logged in, or was until this request ended the session. */
  readonly isLoggedIn: boolean
}

/** A redirect URI or a post-logout redirect URI of a client. */
interface ToClient extends Visit {
  /** The URI of the validated request. */
  readonly uri: string
  /** The URI with the parameters of the response. */
  readonly address: string
}

/** The target of a redirect. */
export type Target = ToPage | ToPath | ToClient

type Server = Identity & Pick<ServerContext, 'ui'>

/**
 * Returns whether a redirect may lead this visitor to the client. Anyone can register a client with any redirect URI,
 * and can send a visitor to this server by a link. Such a link must not lead to another site before the login (RFC 9700
 * §4.11.2).
 */
export const mayReturn = ({ client, isLoggedIn }: Visit): boolean => isLoggedIn || isTrusted(client)

/**
 * Decides where a redirect, or the form of `form_post`, may lead. All redirects of this server use this function:
 * - a page of this server or of the application: always
 * - a path in the request: if it is a path of this host. Otherwise, returns the start page.
 * - a client: if the URI is registered for the client, and `mayReturn` permits the visit
 * @throws OAuthError if the browser must not be sent to this URL
 */
export const destinationOf = (target: Target, server: Server): string => {
  if ('path' in target) return pathIn(target.path, server)
  if ('page' in target) {
    const page = target.page.toWellFormed().replaceAll(unusual, encodeURIComponent)
    if (isOnHost(page, server) || isPageOfApplication(page, server)) return page
    throw refused()
  }
  const isOfClient = isRegistered(target.uri, target.client) || isAfterLogout(target)
  if (!isOfClient || !target.address.startsWith(target.uri) || !mayReturn(target)) throw refused()
  return target.address
}

const refused = (): OAuthError =>
  new OAuthError('invalid_request', 'The server must not redirect to this URL.')

const isAfterLogout = ({ client, uri }: ToClient): boolean =>
  keptMetadata(client).post_logout_redirect_uris?.includes(uri) ?? false

const maxPathLength = 16_384

const pathIn = ([path, ...more]: readonly string[], server: Server): string => {
  const isPath =
    path !== undefined &&
    more.length === 0 &&
    path.length <= maxPathLength &&
    path.search(unusual) < 0 &&
    isOnHost(path, server)
  return isPath ? path : `${server.basePath}/`
}

// Browsers remove tabs and line breaks, and turn backslashes into slashes.
const unusual = /[^\x21-\x5B\x5D-\x7E]/gu

const isOnHost = (path: string, { issuer }: Server): boolean => {
  const { origin } = new URL(issuer)
  const isPath = path.startsWith('/') && !path.startsWith('//') && URL.canParse(path, origin)
  return isPath && new URL(path, origin).origin === origin
}

/** Returns whether a URL is the login page or the logout page of the application, with any query. */
const isPageOfApplication = (address: string, { ui }: Server): boolean =>
  [ui.links.login, ui.links.hostLogout].some(
    (page) =>
      page !== null && address.startsWith(page) && /^(?:$|[?&])/.test(address.slice(page.length)),
  )
