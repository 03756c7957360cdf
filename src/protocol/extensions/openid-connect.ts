// OpenID Connect Core 1.0, OpenID Connect Discovery 1.0

import type { Client } from '../../model/client.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import { offlineAccessScope, openidScope } from '../../model/openid-scopes.ts'
import type { Parameters } from '../../model/parameters.ts'
import { returnsCode, returnsIdToken } from '../../model/response-type.ts'
import { sectorOf, sectorSince, subjectIn } from '../../model/sector.ts'
import { scopeOfClaim } from '../../model/standard-claims.ts'
import type { Token } from '../../model/token.ts'
import { idTokenAlgorithms } from '../../records/keys/required-algorithms.ts'
import { metadataResponse, withoutEmptyLists } from '../endpoints/responses/responses.ts'
import {
  meaningfulWhenEmpty,
  metadataSchema,
  serverMetadata,
} from '../endpoints/token/server-metadata.ts'
import { metadataOperation } from '../openapi/operations.ts'
import { responseOf } from '../openapi/responses.ts'
import { supportedClaims } from '../openid/claims-of-user.ts'
import { frontChannelIdToken } from '../openid/front-channel-id-token.ts'
import { createIdToken } from '../openid/id-token.ts'
import { verifiedHint } from '../openid/id-token-hint.ts'
import {
  extensionName,
  grantIn,
  grantText,
  loginDigestOf,
  loginIn,
  type OpenIdGrant,
  type OpenIdRequest,
  readOpenIdRequest,
} from '../openid/openid-request.ts'
import { type RequestedClaims, requestedClaims } from '../openid/requested-claims.ts'
import { userinfoEndpoint } from '../openid/userinfo.ts'
import type { TokenIssue } from '../plug-ins/extension.ts'
import type { Endpoint, Extension } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'

/** The metadata at the path of OpenID Connect Discovery §4. RFC 8414 defines another path for the same metadata. */
const discoveryEndpoint: Endpoint = {
  path: () => '/.well-known/openid-configuration',
  wellKnown: ({ issuer }) => [issuer],
  methods: ['GET'],
  cors: true,
  errors: 'json',
  handle: async (_request, server) =>
    metadataResponse(withoutEmptyLists(serverMetadata(server), meaningfulWhenEmpty)),
  describe: (server) =>
    metadataOperation(
      {
        operationId: 'getOpenIdConfiguration',
        summary: 'Returns the metadata of the OpenID provider (OpenID Connect Discovery §4)',
      },
      { 200: responseOf('The document.', metadataSchema(server)) },
    ),
}

const withoutRequestObjects = {
  request_parameter_supported: false,
  // Publish false, because the default is true. The member does not concern pushed requests (RFC 9126 §5).
  request_uri_parameter_supported: false,
}

const metadata = ({ settings }: ServerContext): Readonly<Record<string, unknown>> => {
  const algorithms = idTokenAlgorithms(settings)
  return {
    subject_types_supported: ['public', 'pairwise'],
    id_token_signing_alg_values_supported: algorithms,
    userinfo_signing_alg_values_supported: algorithms,
    claims_supported: supportedClaims,
    claim_types_supported: ['normal'],
    claims_parameter_supported: true,
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    ...(settings.requestObjects ? {} : withoutRequestObjects),
  }
}

/** Returns the scopes that the client may request and that cover claims in the parameter `claims`. Core §5.5. */
const impliedBy = (params: Parameters, { scopeCeiling }: Client): readonly string[] => {
  const { userinfo = {}, id_token = {} } = requestedClaims(params) ?? {}
  const scopes = Object.keys({ ...userinfo, ...id_token }).flatMap(
    (name) => scopeOfClaim(name) ?? [],
  )
  return [...new Set(scopes)].filter((scope) => scopeCeiling.includes(scope))
}

/** Returns the subjects that the parameter `claims` accepts. Core §5.5.1. */
const subjectsIn = (claims: RequestedClaims | undefined): readonly unknown[] =>
  (claims && Object.hasOwn(claims.id_token, 'sub') && claims.id_token.sub?.values) || []

const asksForLogin = (scopes: readonly string[]): boolean => scopes.includes(openidScope.id)

/**
 * Returns the values for the ID token of a token response. The values are stored with the code, and later with the
 * authorization. After a refresh, the ID token contains no nonce (Core §12.2).
 */
const grantOf = async (
  token: Token,
  { redemption, remembered }: TokenIssue,
  server: ServerContext,
): Promise<OpenIdGrant | undefined> => {
  if (redemption.type === 'user') return grantIn(remembered, token, server)
  if (token.authorizationId === null) return undefined
  const authorization = await server.store.authorizations.find(token.authorizationId)
  const grant = grantIn(authorization?.code?.extensions, token, server)
  return grant && { ...grant, nonce: undefined }
}

/** Returns the subject in an ID token that the client sent as a hint. @throws OAuthError `invalid_request` */
const subjectOfHint = async (
  hint: string,
  { clientId }: Client,
  server: ServerContext,
): Promise<string> => {
  const verified = await verifiedHint(hint, server)
  if (verified?.clientId === clientId) return verified.sub
  throw new OAuthError('invalid_request', 'id_token_hint is not an ID token for this client.')
}

export const openidConnect: Extension = {
  name: extensionName,
  isOn: (settings) => settings.openidConnect,
  endpoints: [discoveryEndpoint, userinfoEndpoint],
  authorizationParameters: [
    'nonce',
    'display',
    'max_age',
    'claims_locales',
    'id_token_hint',
    'login_hint',
    'acr_values',
    'claims',
  ],
  metadata,

  onRequestedScopes(scopes, params, { client, responseType }) {
    if (!asksForLogin(scopes)) return scopes.filter((scope) => scope !== offlineAccessScope.id)
    // Core §11: ignore offline_access in a request that returns no code.
    const usable = returnsCode(responseType)
      ? scopes
      : scopes.filter((scope) => scope !== offlineAccessScope.id)
    return [...new Set([...usable, ...impliedBy(params, client)])]
  },

  onAuthorizationRequest(params, { client, scopes, responseType }): OpenIdRequest | undefined {
    const needsIdToken = returnsIdToken(responseType)
    if (!asksForLogin(scopes)) {
      if (needsIdToken)
        throw new OAuthError('invalid_request', 'This response type requires the scope openid.')
      return undefined
    }
    const named = (params.opaque('scope') ?? '').split(' ')
    const implied = impliedBy(params, client).filter((scope) => !named.includes(scope))
    const request = readOpenIdRequest(params, client, implied)
    // Core §3.2.2.1, §3.3.2.11
    if (needsIdToken && request.nonce === undefined)
      throw new OAuthError('invalid_request', 'This response type requires a nonce.')
    return request
  },

  // Core §3.1.2.1: max_age, id_token_hint
  async requiredLogin({ extensions, prompt, redirectUri }, { client, signedIn }, server) {
    const request = extensions[extensionName] as OpenIdRequest | undefined
    if (!request) return undefined
    const { maxAge, idTokenHint, claims } = request
    const expected = [
      ...subjectsIn(claims),
      ...(idTokenHint === undefined ? [] : [await subjectOfHint(idTokenHint, client, server)]),
    ]
    if (!signedIn) return maxAge === undefined && expected.length === 0 ? undefined : 'again'
    if (maxAge === undefined && expected.length === 0) return undefined
    const { id } = signedIn.user
    const consent = await server.consents.find(id, client.clientId)
    // Without the consent of the user, a client must not find out who is logged in by guessing subjects, or since when.
    if (prompt.includes('none') && !consent)
      return expected.length > 0 ? 'as_other_user' : undefined
    if (expected.length > 0) {
      const sector = sectorSince(sectorOf(client, redirectUri), consent?.reusedSince ?? null)
      const subject = await subjectIn(sector, id, server)
      if (expected.some((sub) => sub !== subject)) return 'as_other_user'
    }
    const { loggedInAt } = signedIn
    const isRecent =
      maxAge === undefined ||
      (loggedInAt !== null && server.clock() - loggedInAt <= maxAge * 1000 && maxAge > 0)
    return isRecent ? undefined : 'again'
  },

  onAuthorizationGranted({ extensions, responseType, scopes, redirectUri }, granted) {
    // If the scope openid is optional, the user may have declined it.
    if (returnsIdToken(responseType) && !asksForLogin(scopes))
      throw new OAuthError('access_denied', 'The user refused the scope openid.')
    const request = extensions[extensionName] as OpenIdRequest | undefined
    return request && grantText(request, { ...granted, redirectUri })
  },

  async onAuthorizationIssued(request, issued, server) {
    const scopes = issued.token?.token.scopes ?? request.scopes
    // A hook of the application may have reduced the scopes of the token.
    if (!returnsIdToken(request.responseType) || !asksForLogin(scopes)) return {}
    return { id_token: await frontChannelIdToken({ ...request, scopes }, issued, server) }
  },

  onTokenIssue({ redemption, remembered }, server) {
    if (redemption.type !== 'user') return redemption
    const loginDigest = loginDigestOf(remembered)
    const { clientKey } = redemption.client
    const userId = redemption.subject.id
    const grant = redemption.code && grantIn(remembered, { clientKey, userId, loginDigest }, server)
    const login = loginIn(grant)
    return { ...redemption, ...(loginDigest !== null && { loginDigest }), ...(login && { login }) }
  },

  // Core §3.1.3.3, §12.2
  async onTokenResponse({ token, accessToken }, issue, server) {
    const { redemption } = issue
    const isForUser =
      redemption.type === 'refresh' || (redemption.type === 'user' && redemption.code)
    if (!isForUser || token.userId === null || !asksForLogin(token.scopes)) return undefined
    const { client } = redemption
    const grant = await grantOf(token, issue, server)
    const { userId, sector, scopes } = token
    const bound = { accessToken }
    const about = { client, userId, sector, scopes, grant, bound }
    return { id_token: await createIdToken(about, server) }
  },
}
