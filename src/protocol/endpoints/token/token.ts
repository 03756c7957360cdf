import { z } from 'zod'
import type { HttpRequest } from '../../../http/request.ts'
import type { Client } from '../../../model/client.ts'
import { OAuthError } from '../../../model/oauth-error.ts'
import {
  type JsonSchema,
  merged,
  namesIn,
  type Parameters,
  plainParameter,
} from '../../../model/parameters.ts'
import { ScopeDoesNotExists } from '../../../model/scope.ts'
import { userIdIn } from '../../../model/sector.ts'
import type { IssuedToken, TokenSubject } from '../../../model/token.ts'
import type { UserId } from '../../../model/user.ts'
import { component, count, text } from '../../../pages/shapes/shape.ts'
import { ClientChanged, ReferenceNotFound } from '../../../store/contract/errors.ts'
import {
  authenticateClient,
  credentialParameters,
  recallAuthenticated,
} from '../../client-authentication/authenticate-client.ts'
import { basicCredentials } from '../../client-authentication/client-secret.ts'
import { clientOperation, formBody, formSchema } from '../../openapi/operations.ts'
import { responseOf } from '../../openapi/responses.ts'
import { named, required } from '../../openapi/schema.ts'
import type { TokenIssue } from '../../plug-ins/extension.ts'
import type { TokenRequest } from '../../plug-ins/grant.ts'
import type { Endpoint, Grant } from '../../plug-ins.ts'
import type { PlugIns, ServerContext } from '../../server-context.ts'
import { jsonResponse, responseHeaders } from '../responses/responses.ts'
import { supportedGrantTypes } from './supported.ts'
import { tokenUser } from './token-holder.ts'

/** The token endpoint. RFC 6749 §3.2. */
export const tokenEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/token`,
  methods: ['POST'],
  errors: 'json',
  advertisedAs: 'token_endpoint',
  cors: true,
  async handle(request, server) {
    const params = await request.form()
    const { countGrant } = server.operations
    const run = () =>
      server.tokenQueues.run(senderOf(request, params), () => issuedFor(request, params, server))
    const { issued, userId, added } = await (countGrant
      ? countGrant(grantTypeOf(params, server), run)
      : run())
    const body = { ...toWire(issued, userId), ...grantOf(params, server)?.response, ...added }
    return jsonResponse(body, 200, responseHeaders(request, server))
  },
  describe: (server) => ({
    post: clientOperation({
      operationId: 'token',
      summary: 'Exchanges a grant for tokens (RFC 6749 §3.2)',
      requestBody: formBody(
        component('TokenRequest', formSchema(parametersFor(server), ['grant_type'])),
      ),
      responses: {
        200: responseOf('The tokens.', tokenResponse()),
        400: responseOf('An error of RFC 6749 §5.2.', named('Problem')),
      },
    }),
  }),
}

// Returns the key of the queue in which the request waits. The credentials in the key are unverified, because the server
// verifies them only after the wait.
const senderOf = (http: HttpRequest, params: Parameters): string =>
  [http.address, ...credentialsOf(http.header('authorization'), params)].join('\n')

// Normalizes the credentials, so that all requests of a client from one IP address wait in one queue.
const credentialsOf = (
  authorization: string | null,
  params: Parameters,
): readonly (string | readonly string[] | undefined)[] => {
  try {
    const basic = basicCredentials(authorization)
    if (basic) return [basic.clientId, basic.proof]
  } catch {
    return [authorization ?? '']
  }
  return [params.repeated('client_id'), params.repeated('client_secret')]
}

/** The issued tokens, and the members that extensions add to the response. */
interface Issued {
  readonly issued: IssuedToken
  /** The ID of the user in the response; null if the client acts on its own behalf. */
  readonly userId: UserId | null
  readonly added: object
}

const issuedFor = async (
  request: HttpRequest,
  params: Parameters,
  server: ServerContext,
): Promise<Issued> => {
  params.refuseRepeated(() => Object.keys(parametersFor(server)))
  if (!grantOf(params, server) && !namesClient(request, params, server))
    requestedGrant(params, server)
  for (const extension of server.extensions) extension.onTokenRequest?.(request, server)
  const issued = await issuedByRecalled(request, params, server)
  if (issued) return issued
  let found: TokenRequest['found']
  const client = await clientOf(request, params, server, () => {
    found = grantOf(params, server)?.lookUp?.(params, server)
    // The grant awaits the look-up and handles its error. If the client is refused, no code awaits the look-up, so this
    // handler prevents an unhandled rejection.
    found?.catch(() => undefined)
  })
  server.limits.check('wrongGrants', request.address, client.clientId)
  try {
    return await redeemed({ client, params, http: request, now: server.clock(), found }, server)
  } catch (error) {
    noteRefusal(error, client, server)
    if (error instanceof OAuthError && guessedErrors.includes(error.code))
      await server.limits.countFailure('wrongGrants', request.address, client.clientId)
    throw error
  }
}

/** The errors that count towards the limit `wrongGrants`. */
const guessedErrors: readonly string[] = ['invalid_grant', 'invalid_dpop_proof']

// These errors tell a device to continue polling (RFC 8628 §3.5).
const pollingErrors: readonly string[] = ['authorization_pending', 'slow_down']

const noteRefusal = (error: unknown, client: Client, { refusals }: ServerContext): void => {
  if (!(error instanceof OAuthError) || error.status >= 500) return
  const { code, message } = error
  if (!pollingErrors.includes(code)) refusals.note(client, { error: code, description: message })
}

const requestedGrant = (params: Parameters, server: PlugIns): Grant => {
  params.required('grant_type')
  const grant = grantOf(params, server)
  if (grant) return grant
  throw new OAuthError('unsupported_grant_type', 'The grant type is not supported.')
}

// A request without a valid grant type often names no client either. In this case, an error about the grant type is more
// helpful than an error about the client.
const namesClient = (
  http: HttpRequest,
  params: Parameters,
  { clientAuthentication }: PlugIns,
): boolean =>
  http.header('authorization') !== null ||
  clientAuthentication.some(({ parameters }) =>
    namesIn(parameters).some((name) => params.repeated(name).length > 0),
  )

/**
 * Issues a token for `client_credentials` without a query for the client, if the row of the client is in the memory of
 * this process. The statement that inserts the token verifies that the row has not changed. Returns undefined and issues
 * no token if the row is missing or has changed, or if the request is refused. The caller then uses the current row.
 */
const issuedByRecalled = async (
  http: HttpRequest,
  params: Parameters,
  server: ServerContext,
): Promise<Issued | undefined> => {
  if (!server.mayRecall) return undefined
  // A DPoP proof is valid once. If this attempt failed, the caller could not use the proof again.
  const [grant] = params.repeated('grant_type')
  if (grant !== 'client_credentials' || http.header('dpop') !== null) return undefined
  try {
    const recalled = await recallAuthenticated(http, params, server)
    if (!recalled) return undefined
    const { client, version } = recalled
    server.limits.check('wrongGrants', http.address, client.clientId)
    return await redeemed({ client, params, http, now: server.clock() }, server, version)
  } catch (error) {
    if (error instanceof OAuthError || error instanceof ClientChanged) return undefined
    throw error
  }
}

const redeemed = async (
  request: TokenRequest,
  server: ServerContext,
  clientVersion?: string,
): Promise<Issued> => {
  const { client, params, http } = request
  const grant = requestedGrant(params, server)
  if (!client.allowedGrantTypes.includes(grant.type))
    throw new OAuthError('unauthorized_client', 'The client may not use this grant type.')
  if (grant.actsForClient === true && !client.isConfidential)
    throw new OAuthError('unauthorized_client', `A public client cannot use ${grant.type}.`)
  const made = await grant.redeem(request, server)
  const redemption =
    clientVersion !== undefined && made.type === 'client' ? { ...made, clientVersion } : made
  const remembered = (redemption.type === 'user' && redemption.code?.binding.extensions) || {}
  const issue = { redemption, params, http, remembered }
  const issued = await issueToken(issue, server).catch((error: unknown) => {
    if (!(error instanceof ReferenceNotFound)) throw error
    throw new OAuthError('invalid_grant', 'The grant is not valid any more.', { cause: error })
  })
  const { userId, sector } = issued.token
  return {
    issued,
    userId: userId === null ? null : await userIdIn(sector, userId, server),
    added: await addedMembers(issued, issue, server),
  }
}

/**
 * Lets extensions restrict a redemption, and then issues its tokens. If an extension throws, no code or refresh token is
 * consumed.
 */
export const issueToken = async (
  issue: TokenIssue,
  server: ServerContext,
): Promise<IssuedToken> => {
  let { redemption } = issue
  for (const extension of server.extensions) {
    if (extension.onTokenIssue)
      redemption = await extension.onTokenIssue({ ...issue, redemption }, server)
  }
  // Requests to the authorization endpoint have no `grant_type`.
  const grant = issue.params.optional('grant_type') ?? 'implicit'
  return server.tokens.issue(redemption, grant).catch((error: unknown) => {
    if (!(error instanceof ScopeDoesNotExists)) throw error
    throw new OAuthError('invalid_scope', error.message, { cause: error })
  })
}

const addedMembers = async (
  issued: IssuedToken,
  issue: TokenIssue,
  server: ServerContext,
): Promise<object> => {
  let added = {}
  for (const extension of server.extensions) {
    if (extension.onTokenResponse)
      added = { ...added, ...(await extension.onTokenResponse(issued, issue, server)) }
  }
  return added
}

const grantOf = (params: Parameters, { grants }: PlugIns): Grant | undefined => {
  const [given] = params.repeated('grant_type')
  return grants.find(({ type }) => type === given)
}

// Returns the label for metrics. An unknown grant type could be any text, so all unknown grant types share one label.
const grantTypeOf = (params: Parameters, server: ServerContext): string =>
  grantOf(params, server)?.type ?? '_OTHER'

/** Returns the parameters that the enabled grants, the client authentication and the extensions read. */
const parametersFor = (server: PlugIns): Readonly<Record<string, JsonSchema>> => {
  const types = supportedGrantTypes(server)
  return merged([
    ...server.grants.map(({ parameters }) => parameters),
    ...server.extensions.map(({ tokenParameters = [] }) => tokenParameters),
    credentialParameters(server),
    {
      grant_type: types.length === 0 ? required(plainParameter) : { type: 'string', enum: types },
      scope: { ...plainParameter, description: 'Scopes, separated by spaces.' },
    },
  ])
}

const clientOf = async (
  http: HttpRequest,
  params: Parameters,
  server: ServerContext,
  alongside: () => void,
): Promise<Client> =>
  (await grantOf(params, server)?.findClient?.({ params, http }, server)) ??
  authenticateClient(http, params, server, alongside)

/** The response: RFC 6749 §5.1, and the user. */
const tokenResponse = () =>
  component(
    'TokenResponse',
    z.strictObject({
      access_token: text,
      token_type: z.enum(['Bearer', 'DPoP']),
      expires_in: count.optional().describe('Seconds.'),
      scope: text.describe('The granted scopes, separated by spaces.'),
      refresh_token: text.optional(),
      id_token: text
        .optional()
        .describe('Only if the scope `openid` was granted (OpenID Connect Core §3.1.3.3).'),
      issued_token_type: text
        .optional()
        .describe('Only in the response to a token exchange (RFC 8693).'),
      user: tokenUser().optional(),
    }),
  )

type TokenResponse = z.output<ReturnType<typeof tokenResponse>>

const toWire = (
  { token, subject, accessToken, refreshToken, expiresIn }: IssuedToken,
  userId: UserId | null,
): TokenResponse => ({
  access_token: accessToken,
  token_type: token.keyThumbprint === null ? 'Bearer' : 'DPoP',
  ...(expiresIn === null ? {} : { expires_in: expiresIn }),
  scope: token.scopes.join(' '),
  ...(refreshToken === null ? {} : { refresh_token: refreshToken }),
  ...(userId === null ? {} : { user: userToWire(userId, token.scopes, subject) }),
})

const userToWire = (id: UserId, scopes: readonly string[], subject: TokenSubject | null) =>
  subject !== null && scopes.includes('user:email')
    ? { id, email: subject.email, email_verified: subject.emailVerified }
    : { id }
