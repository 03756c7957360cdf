import type { HttpRequest } from '../../../http/request.ts'
import type { Client } from '../../../model/client.ts'
import { OAuthError } from '../../../model/oauth-error.ts'
import { redirectUriDifference } from '../../../model/redirect-difference.ts'
import type { User } from '../../../model/user.ts'
import { addresses } from '../../../pages/addresses.ts'
import type { RefusedRedirectDetails } from '../../../pages/models/refused-redirect.ts'
import type { ServerContext } from '../../server-context.ts'
import { browserOf } from '../../session/browser.ts'

/** The lifetime in milliseconds of the details of a refused request. */
const life = 1_200_000
/** The maximum length of the stored URI, in characters. A registered URI is never longer. */
const maxLength = 2_000
/** The query parameter of the error page whose value is the random name of the stored details. */
export const detailsParameter = 'details'

/** The value of the query parameter `reason` of the error page after an `ExpiredRequest`. */
export const expiredReason = 'expired'

/** The error for a request with an inactive client, or with a missing, invalid or unregistered redirect URI. */
export class RefusedRedirect extends OAuthError {
  readonly client: Client
  /** Undefined if the request contains no redirect URI. */
  readonly redirectUri: string | undefined

  constructor(client: Client, redirectUri: string | undefined, description: string) {
    super('invalid_request', description)
    this.client = client
    this.redirectUri = redirectUri
  }
}

/**
 * Stores the details of a refused request if the owner of the client or an administrator sent the request. For other
 * visitors, nothing is stored, so that strangers cannot fill the store.
 * @returns the random name of the details; undefined if nothing is stored
 */
export const keepDetails = async (
  http: HttpRequest,
  error: unknown,
  server: ServerContext,
): Promise<string | undefined> => {
  if (!(error instanceof RefusedRedirect)) return undefined
  const user = (await server.sessions.signedIn(browserOf(http)))?.user
  if (!user || !mayManage(user, error.client)) return undefined
  const details = {
    userId: user.id,
    clientId: error.client.clientId,
    redirectUri: error.redirectUri?.slice(0, maxLength),
  }
  return server.shortLived.refusedRedirects.put(details, server.clock() + life, String(user.id))
}

/** Returns the details that the URL of the error page names; undefined if no details exist that the user may see. */
export const findDetails = async (http: HttpRequest, server: ServerContext) => {
  const [name, ...more] = new URLSearchParams(http.query).getAll(detailsParameter)
  if (name === undefined || more.length > 0) return undefined
  const found = await server.shortLived.refusedRedirects.get(name)
  const signedIn = found && (await server.sessions.signedIn(browserOf(http)))
  if (found?.userId !== signedIn?.user.id || !found || !signedIn) return undefined
  const client = await server.clients.find(found.clientId)
  if (!client || !mayManage(signedIn.user, client)) return undefined
  const { redirectUri } = found
  const to = addresses(server.ui.links)
  const details: RefusedRedirectDetails = {
    name: client.name,
    isDisabled: client.isDisabled,
    redirectUri,
    registered: client.redirectUris,
    difference:
      redirectUri === undefined
        ? undefined
        : redirectUriDifference(client.redirectUris, redirectUri),
    client: isOwner(signedIn.user, client)
      ? to.client(client.clientId)
      : to.adminApplication(client.clientId),
  }
  return { signedIn, details }
}

type Viewer = Pick<User, 'id' | 'isAdmin'>

const isOwner = ({ id }: Viewer, { userId, isInternal }: Client): boolean =>
  userId === id && !isInternal

const mayManage = (user: Viewer, client: Client): boolean =>
  !client.isPersonal && (user.isAdmin || isOwner(user, client))
