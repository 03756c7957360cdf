import { z } from 'zod'
import { validName } from '../model/field-rules.ts'
import { p256Key } from '../model/p256-key.ts'
import type { VerifyJwt } from '../model/verify-jwt.ts'
import { limitNames, maxPoints, maxSeconds } from './limit-table.ts'
import type { Setting } from './setting.ts'
import {
  authMethods,
  choice,
  color,
  flag,
  grantTypes,
  headerName,
  integer,
  isName,
  isProxy,
  json,
  limits,
  list,
  path,
  responseTypes,
  setOf,
  setting,
  some,
  textOrNull,
  verbatim,
} from './setting-types.ts'

/** The definition of a setting for the URL of a page of the application. The setting adds its description. */
const hostPage = {
  schema: z
    .string()
    .regex(
      /^(?:\/(?:[\x21-\x2E\x30-\x5B\x5D-\x7E][\x21-\x7E]*)?|(?:https:\/\/|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])[:/])[\x21-\x7E]*)$/,
    )
    .nullable()
    .default(null),
  fromText: (text: string) => text || null,
  accepts:
    'a path that starts with one /, an https URL, or an http URL with the host localhost, 127.0.0.1 or [::1]',
}

/**
 * Every setting with its type, default, validation, description and environment variable. The parser, the TypeScript
 * types and the reference are derived from this table.
 */
export const settings = {
  allowedGrantTypes: some(
    grantTypes,
    ['client_credentials', 'refresh_token', 'authorization_code'],
    'Grant types that clients may use.',
  ),
  allowedResponseTypes: some(
    responseTypes,
    ['token', 'code'],
    'Response types that clients may use: `code` for the authorization code grant, `token` for the implicit grant.',
  ),
  allowedUrlencodeCharacters: setting({
    schema: z
      .string()
      .regex(/^[\x21-\x7E]*$/)
      .default('=&;:%+~,*@!()/?'),
    fromText: verbatim,
    accepts: 'printable ASCII characters, but no space',
    sentence: 'Special characters that query strings of the REST application may contain.',
  }),
  clientIdSaltLen: integer(22, 255, 40, 'Length of a generated client ID.'),
  clientSecretSaltLen: integer(22, 255, 60, 'Length of a generated client secret.'),
  tokenPersonalSaltLen: integer(
    22,
    255,
    60,
    'Length of the random part of a personal access token.',
  ),
  tokenPersonalPrefix: setting({
    schema: z
      .string()
      .regex(/^(?:[A-Za-z0-9]{1,20}_)?$/)
      .default(''),
    fromText: verbatim,
    accepts: '1 to 20 letters and digits followed by an underscore, or nothing',
    sentence:
      'The prefix of personal access tokens. Tokens with a prefix end with a checksum of 6 characters.',
  }),
  tokenPersonalMaxExpiresIn: integer(
    0,
    315_360_000,
    0,
    'The maximum lifetime of a personal access token that a user creates, in seconds; 0: unlimited.',
  ),
  tokenPersonalDefaultExpiresIn: integer(
    0,
    315_360_000,
    7_776_000,
    'The lifetime of a personal access token if its user chooses none, in seconds; 0: unlimited.',
  ),
  jwtAuthHeader: setting({
    schema: z.string().regex(headerName).default('Authorization'),
    fromText: verbatim,
    accepts: 'a header name',
    sentence: 'The header that contains the JWT of a session.',
  }),
  jwtAuthHeaderType: setting({
    schema: z.string().regex(headerName).nullable().default('Bearer'),
    fromText: (text: string) => text || null,
    accepts: 'one word, or nothing for a header that holds only the JWT',
    sentence: 'The authentication scheme that precedes the JWT in its header.',
  }),
  jwtVeryficationFactory: setting({
    schema: z
      .union([
        z.string().regex(/^[^:]+(?::[^:]+)*:[A-Za-z_$][\w$]*$/),
        z.custom<VerifyJwt>((value) => typeof value === 'function'),
      ])
      .default('svc_oauth2server.utils:jwt_verify_token'),
    fromText: verbatim,
    accepts: 'an import path such as ./jwt.js:verify (or, in code, a function)',
    sentence:
      'The function that verifies the JWT of a session. The function receives the request headers.',
  }),
  jwtExpiresIn: integer(60, 31_536_000, 86_400, 'Lifetime of the JWT of a session, in seconds.'),
  cacheType: choice(
    ['database', 'redis', 'memory'],
    'database',
    'The store of authorization codes and other short-lived values. The value redis requires the URL of a Redis server.',
    'OAUTH2_CACHE_TYPE',
  ),
  errorEndpoint: setting({
    schema: z
      .string()
      .regex(/^(?:\/(?:[^\s\\/][^\s\\]*)?|[A-Za-z_][\w.-]*)$/)
      .default('svc_oauth2server.errors'),
    fromText: verbatim,
    accepts: 'svc_oauth2server.errors, a name in options.views, or a path that starts with one /',
    sentence: 'The view that displays authorization errors.',
    env: 'OAUTH2_PROVIDER_ERROR_ENDPOINT',
  }),
  securityProfile: choice(
    ['specification', 'oauth2.1', 'fapi2'],
    'specification',
    'The security rules: the specification, OAuth 2.1 or the FAPI 2.0 Security Profile. A profile changes the defaults of some settings and refuses contradicting values.',
  ),
  clientAuthentication: some(
    authMethods,
    authMethods,
    'Methods with which clients may authenticate.',
  ),
  revocation: flag(true, 'Whether clients can revoke tokens (RFC 7009).'),
  revokeAccessTokenAlone: flag(
    false,
    'Whether a client can revoke its current access token and continue to use the refresh token. If false, the server revokes the whole authorization.',
  ),
  introspection: flag(
    true,
    'Whether clients can introspect tokens (RFC 7662): their own tokens, and tokens for resources that list the client in `introspectionClients`.',
  ),
  resourceIndicators: flag(
    true,
    'Whether clients can request tokens that are restricted to some of the resources (RFC 8707).',
  ),
  defaultResource: setting({
    schema: z.string().nullable().default(null),
    fromText: textOrNull,
    accepts: 'the URL of a resource',
    sentence:
      'The resource to which tokens are restricted if their client requests no resource. Without this setting, such tokens are valid for the whole application.',
  }),
  pushedAuthorizationRequests: choice(
    ['off', 'on', 'required'],
    'on',
    'Whether clients can, or must, push authorization requests (RFC 9126).',
  ),
  dpop: choice(
    ['off', 'on', 'required'],
    'on',
    'Whether clients can, or must, bind tokens to a key (RFC 9449).',
  ),
  requireDpopNonce: flag(
    false,
    'Whether DPoP proofs must contain a nonce that this server issued.',
  ),
  deviceAuthorization: flag(
    false,
    'Whether devices without a browser can request an authorization (RFC 8628).',
  ),
  tokenExchange: flag(
    false,
    'Whether the holder of a token can exchange it for a token with the same or fewer scopes (RFC 8693).',
  ),
  dynamicRegistration: choice(
    ['off', 'token', 'open'],
    'off',
    'Whether clients can register themselves (RFC 7591): token requires an initial access token, and open requires no token.',
  ),
  initialAccessToken: setting({
    schema: z
      .string()
      .regex(/^[A-Za-z0-9\-._~+/]{22,255}=*$/)
      .nullable()
      .default(null),
    fromText: textOrNull,
    accepts: '22 to 255 characters of A-Z, a-z, 0-9 and -._~+/, optionally with = at the end',
    sentence:
      'The token that a client must present to register itself if dynamicRegistration is token.',
    isSecret: true,
  }),
  unusedClientExpiresIn: integer(
    0,
    31_536_000,
    604_800,
    'The age of an unused client, in seconds, at which the server deletes the client; 0: never. An unused client was not registered by a user, and has no token, authorization or consent.',
  ),
  clientIdMetadataDocuments: flag(
    false,
    'Whether a client ID may be the https URL of a metadata document of the client.',
  ),
  leakReportKeys: setting({
    schema: z
      .record(
        z.string().min(1),
        z.union([z.string(), z.looseObject({})]).refine((key) => p256Key(key) !== undefined),
      )
      .readonly()
      .default({}),
    fromText: json,
    accepts: 'a JSON object that maps key identifiers to P-256 public keys, in PEM or JWK format',
    sentence:
      'Enables /oauth/leaked for secret scanners that sign their reports with one of these keys.',
    isSecret: true,
  }),
  acceptUnsignedLeakReports: flag(
    false,
    'Whether /oauth/leaked accepts unsigned reports. If true, anyone who has a token can revoke the token.',
  ),
  dangerouslyAllowPrivateAddresses: flag(
    false,
    'Whether the server also sends requests to private IP addresses when it fetches URLs that clients supplied. Only for tests.',
  ),
  accessTokenFormat: choice(
    ['opaque', 'jwt'],
    'opaque',
    'The format of access tokens. Other servers can verify tokens in the format jwt with the published keys (RFC 9068).',
  ),
  signingAlgorithm: choice(
    ['ES256', 'RS256', 'EdDSA'],
    'ES256',
    'The algorithm that signs access tokens in the format jwt.',
  ),
  openidConnect: flag(
    false,
    'Whether clients can learn who the user is (OpenID Connect): registers the scope `openid` and issues ID tokens.',
  ),
  idTokenSigningAlgorithm: choice(
    ['RS256', 'ES256', 'EdDSA'],
    'RS256',
    'The algorithm that signs ID tokens, unless a client registers another algorithm.',
  ),
  allowFrontChannelIdTokens: flag(
    false,
    'Whether clients that registered `id_token`, `code id_token` or `id_token token` receive ID tokens through the browser (OpenID Connect Core §3.2, §3.3). `code id_token` also requires `code` in `allowedResponseTypes`, and `id_token token` requires `token`.',
  ),
  userClaimsInIdToken: flag(
    false,
    'Whether ID tokens contain the claims of the granted scopes, such as `email`. Clients that do not fetch userinfo need these claims.',
  ),
  requestObjects: flag(
    false,
    'Whether a client can send its authorization request as a request object, a JWT (RFC 9101). The client sends the JWT in the parameter `request`, or a registered URL of the JWT in `request_uri`.',
  ),
  signingKeyExpiresIn: integer(
    3_600,
    315_360_000,
    7_776_000,
    'Seconds after which the server signs with a new key. The former key remains published until the last token that it signed has expired.',
  ),
  tokenExpiresIn: integer(
    1,
    31_536_000,
    3_600,
    'Lifetime of an access token, in seconds.',
    'OAUTH2_PROVIDER_TOKEN_EXPIRES_IN',
  ),
  defaultScopes: setting({
    schema: setOf(z.string()).default([]),
    fromText: list,
    accepts: 'a comma-separated list of registered scopes',
    sentence:
      'Scopes of a request without the parameter scope, if the client has no default scopes.',
  }),
  allowPrivateUseRedirectUris: flag(
    false,
    'Whether public clients may register redirect URIs such as com.example.app:/callback.',
  ),
  authorizationCodeExpiresIn: integer(1, 600, 60, 'Lifetime of an authorization code, in seconds.'),
  requirePkce: choice(
    ['public', 'always', 'never'],
    'public',
    'Which clients must send a code challenge (PKCE).',
  ),
  requireRedirectUri: flag(
    false,
    'Whether authorization requests must contain the redirect URI even if the client registered only one.',
  ),
  refreshTokenExpiresIn: integer(
    1,
    315_360_000,
    2_592_000,
    'Lifetime of a refresh token, in seconds. Each use restarts the lifetime.',
  ),
  refreshTokenLeeway: integer(
    0,
    3_600,
    60,
    'Seconds after a refresh in which a retry with the used refresh token returns the same response. A former access token with the same scopes, resources and key also remains valid, at most for this time. 0: the used refresh token and the former access token are invalid immediately.',
  ),
  authorizationExpiresIn: integer(
    0,
    3_153_600_000,
    0,
    'The maximum time between the authorization and the expiry of its last refresh token, in seconds; 0: unlimited.',
  ),
  acceptQueryAccessToken: flag(
    true,
    'Whether the query parameter access_token is accepted, as the specification requires.',
  ),
  sessionIdleExpiresIn: integer(
    60,
    31_536_000,
    86_400,
    'Seconds without a request after which a session expires.',
  ),
  sessionExpiresIn: integer(
    60,
    31_536_000,
    1_209_600,
    'The maximum lifetime of a session, in seconds.',
  ),
  sessionIpv4Prefix: integer(
    0,
    32,
    32,
    'The number of leading bits of an IPv4 address to which a session is bound; 0: not bound.',
  ),
  sessionIpv6Prefix: integer(
    0,
    128,
    128,
    'The number of leading bits of an IPv6 address to which a session is bound; 0: not bound.',
  ),
  trustedProxies: setting({
    schema: z.array(z.string().refine(isProxy)).readonly().default([]),
    fromText: list,
    accepts: 'comma-separated IP addresses or networks such as 10.0.0.0/8, or unix',
    sentence:
      'Proxies whose header X-Forwarded-For is trusted. `unix` means a peer without an IP address, such as a proxy on a Unix socket.',
    env: 'TRUSTED_PROXIES',
  }),
  limits: setting({
    schema: z
      .partialRecord(
        z.union([z.enum(limitNames), z.templateLiteral([z.string(), '/', z.string()])]),
        z.strictObject({
          points: z.int().min(1).max(maxPoints),
          seconds: z.int().min(1).max(maxSeconds),
        }),
      )
      .default({}),
    fromText: limits,
    accepts:
      'a comma-separated list such as wrongTokens=500/60, that is 500 within 60 seconds (in code: { wrongTokens: { points: 500, seconds: 60 } })',
    sentence: `Overrides the default rate limits: ${limitNames.join(', ')}, and limits of extensions, such as \`magic-link/mails\`.`,
  }),
  dangerouslyIgnoreLimits: flag(
    false,
    'Disables all rate limits, also those of extensions: passwords, secrets and tokens can be guessed without limit.',
  ),
  tokenQuota: integer(
    0,
    1_000_000,
    0,
    'The maximum number of requests per minute with one access token; 0: unlimited.',
  ),
  clientsPerUser: integer(
    0,
    1_000_000,
    1_000,
    'The maximum number of client applications that a user can register.',
  ),
  personalTokensPerUser: integer(
    0,
    1_000_000,
    1_000,
    'The maximum number of personal access tokens that a user can create.',
  ),
  sessionsPerUser: integer(
    1,
    10_000,
    100,
    'The maximum number of sessions of a user. A further login deletes the oldest session.',
  ),
  authorizationsPerApplication: integer(
    1,
    100_000,
    1_000,
    'The maximum number of authorizations (devices) of one application for one user. A further authorization revokes the oldest.',
  ),
  tokensPerClient: integer(
    100,
    10_000_000,
    100_000,
    'The approximate maximum number of valid tokens that a client has requested for itself (`client_credentials`). Above this number, the server deletes the oldest tokens.',
  ),
  oauthPrefix: path('/oauth', 'The path of the protocol endpoints, below the path of the issuer.'),
  openapiPath: path('/openapi.json', 'The path of the OpenAPI document of the settings pages.'),
  loginPath: path('/login', 'The path of the built-in login page.'),
  loginUrl: setting({
    ...hostPage,
    sentence:
      "The URL of the application's own login page. After the login, the page must redirect the user to the URL in its query parameter `next`.",
  }),
  signUp: flag(
    false,
    'Whether visitors can create an account on the login page. Requires the option `sendUserLink`.',
  ),
  logoutPath: path('/logout', 'The path of the built-in logout endpoint.'),
  logoutUrl: setting({
    ...hostPage,
    sentence:
      "The URL of the application's own logout page, to which the settings pages link. Requires the option `resourceOwner`.",
  }),
  settingsPrefix: path(
    '/account/settings',
    'The path of the pages on which users manage applications, tokens and sessions.',
  ),
  adminPrefix: path('/admin', 'The path of the pages for administrators.'),
  applicationName: setting({
    schema: z.string().refine(isName).transform(validName).nullable().default(null),
    fromText: textOrNull,
    accepts: '1 to 40 visible characters',
    sentence: 'The name of the application on the pages. The default is the host of the issuer.',
  }),
  logo: setting({
    schema: z
      .string()
      .regex(/^(?:\/(?:[\x21-\x2E\x30-\x5B\x5D-\x7E][\x21-\x7E]*)?|https:\/\/[\x21-\x7E]*)$/)
      .refine((text) => text.startsWith('/') || URL.canParse(text))
      .nullable()
      .default(null),
    fromText: textOrNull,
    accepts: 'a path that starts with one /, or an https URL',
    sentence: 'The image that the pages display next to the name of the application.',
  }),
  accentColor: color(
    'The colour of links and buttons. The colour must have enough contrast to white.',
  ),
  accentColorDark: color(
    'The colour of links and buttons in browsers that prefer dark pages. The colour must have enough contrast to black.',
  ),
  sweepInterval: integer(
    0,
    86_400,
    60,
    'Seconds between two removals of expired rows; 0: no automatic removal.',
  ),
  auditExpiresIn: integer(
    0,
    315_360_000,
    7_776_000,
    'Seconds after which an entry of the audit log is removed; 0: never.',
  ),
  auditRoutine: flag(
    false,
    'Whether the audit log has a row for each routine event: refreshed tokens, exchanged tokens, and tokens that clients request for themselves. By default, the audit log only counts these events. Hooks receive each event in both cases.',
  ),
  logLevel: choice(
    ['debug', 'info', 'warn', 'error', 'silent'],
    'info',
    'The minimum level of log entries that are written; debug adds an entry for every request.',
  ),
  metricsToken: setting({
    schema: z
      .string()
      .regex(/^[A-Za-z0-9\-._~+/]{22,255}=*$/)
      .nullable()
      .default(null),
    fromText: textOrNull,
    accepts: '22 to 255 characters of A-Z, a-z, 0-9 and -._~+/, optionally with = at the end',
    sentence: 'Enables /metrics. Prometheus must present this value as its bearer token.',
    isSecret: true,
  }),
} as const satisfies Record<string, Setting<unknown, unknown>>

export type Table = typeof settings
export type SettingName = keyof Table

/** The accepted types of each setting in code. `SettingsInput` adds the descriptions. */
export type SettingValues = {
  readonly [N in SettingName]?: Table[N]['schema']['_zod']['input'] | undefined
}

/** The complete settings of a server. */
export type Settings = { readonly [N in SettingName]: Table[N]['schema']['_zod']['output'] }

const upperSnake = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()

/**
 * Returns the name of the environment variable: `env` of the setting, or `OAUTH2SERVER_` with the name of the setting,
 * such as `OAUTH2SERVER_LOGIN_URL` for `loginUrl`.
 */
export const environmentName = (name: SettingName): string => {
  const setting: Setting<unknown, unknown> = settings[name]
  return setting.env ?? `OAUTH2SERVER_${upperSnake(name)}`
}

export const names = Object.keys(settings) as SettingName[]
