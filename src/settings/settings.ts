import { z } from 'zod'
import { validName } from '../model/field-rules.ts'
import { p256Key } from '../model/p256-key.ts'
import type { VerifyJwt } from '../model/verify-jwt.ts'
import { limitNames } from './limit-table.ts'
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
  type Setting,
  setOf,
  some,
  textOrNull,
  verbatim,
} from './setting-types.ts'

/** Every setting once: type, default, check, sentence, environment name. All else is derived. */
export const settings = {
  allowedGrantTypes: some(
    grantTypes,
    ['client_credentials', 'refresh_token', 'authorization_code'],
    'Grant types that clients may use.',
  ),
  allowedResponseTypes: some(
    responseTypes,
    ['token', 'code'],
    '`code` serves the authorization code grant, `token` the implicit grant.',
  ),
  allowedUrlencodeCharacters: {
    schema: z
      .string()
      .regex(/^[\x21-\x7E]*$/)
      .default('=&;:%+~,*@!()/?'),
    fromText: verbatim,
    accepts: 'printable ASCII characters',
    sentence: 'Special characters accepted inside a query string of the REST application.',
  },
  clientIdSaltLen: integer(22, 255, 40, 'Length of a generated client id.'),
  clientSecretSaltLen: integer(22, 255, 60, 'Length of a generated client secret.'),
  tokenPersonalSaltLen: integer(22, 255, 60, 'Length of a generated personal access token.'),
  tokenPersonalPrefix: {
    schema: z
      .string()
      .regex(/^(?:[A-Za-z0-9]{1,20}_)?$/)
      .default(''),
    fromText: verbatim,
    accepts: '1 to 20 letters and digits and an underscore behind them, or nothing',
    sentence:
      'What personal access tokens begin with; they then also end with a checksum of 6 characters.',
  },
  tokenPersonalMaxExpiresIn: integer(
    0,
    315_360_000,
    0,
    'How long a personal access token that users create may live at most, in seconds; 0: without end.',
  ),
  jwtAuthHeader: {
    schema: z.string().regex(headerName).default('Authorization'),
    fromText: verbatim,
    accepts: 'a header name',
    sentence: 'Header that holds the JWT.',
  },
  jwtAuthHeaderType: {
    schema: z.string().regex(headerName).nullable().default('Bearer'),
    fromText: (text: string) => text || null,
    accepts: 'one word, or nothing for a header that holds the JWT alone',
    sentence: 'Authorization type of the JWT header.',
  },
  jwtVeryficationFactory: {
    schema: z
      .union([
        z.string().regex(/^[^:]+(?::[^:]+)*:[A-Za-z_$][\w$]*$/),
        z.custom<VerifyJwt>((value) => typeof value === 'function'),
      ])
      .default('svc_oauth2server.utils:jwt_verify_token'),
    fromText: verbatim,
    accepts: 'an import path such as ./jwt.js:verify (or, in code, a function)',
    sentence: 'Verifies the JWT of a session; given the request headers.',
  },
  jwtExpiresIn: integer(60, 31_536_000, 86_400, 'Life time of the JWT of a session, in seconds.'),
  cacheType: choice(
    ['database', 'redis', 'memory'],
    'database',
    'Where authorization codes and other short-lived values are kept; redis needs its address.',
    'OAUTH2_CACHE_TYPE',
  ),
  errorEndpoint: {
    schema: z
      .string()
      .regex(/^(?:\/(?!\/)[^\s\\]*|[A-Za-z_][\w.-]*)$/)
      .default('svc_oauth2server.errors'),
    fromText: verbatim,
    accepts:
      'svc_oauth2server.errors, the name of one of options.views, or a path that starts with one /',
    sentence: 'View that shows authorization errors.',
    env: 'OAUTH2_PROVIDER_ERROR_ENDPOINT',
  },
  securityProfile: choice(
    ['specification', 'oauth2.1', 'fapi2'],
    'specification',
    'How much clients have to prove: as specified, as OAuth 2.1 or as the FAPI 2.0 Security Profile wants it. Settings that are not given follow it, and none may contradict it.',
  ),
  clientAuthentication: some(authMethods, authMethods, 'Ways for clients to authenticate.'),
  revocation: flag(true, 'Whether clients can revoke tokens (RFC 7009).'),
  revokeAccessTokenAlone: flag(
    false,
    'Whether revoking an access token leaves its refresh token alone; otherwise the authorization ends.',
  ),
  introspection: flag(true, 'Whether clients can ask about their own tokens (RFC 7662).'),
  resourceIndicators: flag(
    true,
    'Whether clients can ask for tokens for some of the resources alone (RFC 8707).',
  ),
  pushedAuthorizationRequests: choice(
    ['off', 'on', 'required'],
    'on',
    'Whether clients can, or must, send authorization requests beforehand (RFC 9126).',
  ),
  dpop: choice(
    ['off', 'on', 'required'],
    'on',
    'Whether clients can, or must, bind tokens to a key (RFC 9449).',
  ),
  requireDpopNonce: flag(false, 'Whether DPoP proofs need a nonce of this server.'),
  deviceAuthorization: flag(
    false,
    'Whether devices without a browser can ask for an authorization (RFC 8628).',
  ),
  tokenExchange: flag(
    false,
    'Whether the holder of a token can exchange it for one with fewer rights and an earlier end (RFC 8693).',
  ),
  dynamicRegistration: choice(
    ['off', 'token', 'open'],
    'off',
    'Whether clients can register themselves (RFC 7591): with the initial access token, or anybody.',
  ),
  initialAccessToken: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9\-._~+/]{22,255}=*$/)
      .nullable()
      .default(null),
    fromText: textOrNull,
    accepts: 'at least 22 characters of A-Z, a-z, 0-9 and -._~+/',
    sentence: 'What a client has to present to register itself, with dynamicRegistration token.',
    isSecret: true,
  },
  unusedClientExpiresIn: integer(
    0,
    31_536_000,
    604_800,
    'After how many seconds a client that registered itself and never got a token is removed; 0: never.',
  ),
  clientIdMetadataDocuments: flag(
    false,
    'Whether the client id may be an https address at which the client describes itself.',
  ),
  leakReportKeys: {
    schema: z
      .record(
        z.string().min(1),
        z.union([z.string(), z.looseObject({})]).refine((key) => p256Key(key) !== undefined),
      )
      .readonly()
      .default({}),
    fromText: json,
    accepts: 'a JSON object with the public keys by their identifiers: of P-256, as PEM or JWK',
    sentence:
      'Switches /oauth/leaked on, for secret scanners that sign what they report by one of these keys.',
    isSecret: true,
  },
  acceptUnsignedLeakReports: flag(
    false,
    'Accepts unsigned reports at /oauth/leaked: the holder of a token can end it.',
  ),
  dangerouslyAllowPrivateAddresses: flag(
    false,
    'Whether the server sends requests to private addresses that clients name. For tests alone.',
  ),
  accessTokenFormat: choice(
    ['opaque', 'jwt'],
    'opaque',
    'What access tokens look like: jwt lets other servers check them by the published keys (RFC 9068).',
  ),
  signingAlgorithm: choice(
    ['ES256', 'RS256', 'EdDSA'],
    'ES256',
    'How access tokens in the format jwt are signed.',
  ),
  signingKeyExpiresIn: integer(
    3_600,
    315_360_000,
    7_776_000,
    'After how many seconds another key signs; the former one stays published while its tokens live.',
  ),
  tokenExpiresIn: integer(
    1,
    31_536_000,
    3_600,
    'Life time of an access token, in seconds.',
    'OAUTH2_PROVIDER_TOKEN_EXPIRES_IN',
  ),
  defaultScopes: {
    schema: setOf(z.string()).default([]),
    fromText: list,
    accepts: 'a comma-separated list of registered scopes',
    sentence: 'Scopes of a request that names none, of a client that has no default scopes.',
  },
  allowPrivateUseRedirectUris: flag(
    false,
    'Whether public clients may register redirect URIs such as com.example.app:/callback.',
  ),
  authorizationCodeExpiresIn: integer(
    1,
    600,
    60,
    'Life time of an authorization code, in seconds.',
  ),
  requirePkce: choice(
    ['public', 'always', 'never'],
    'public',
    'Which clients must send a code challenge (PKCE).',
  ),
  requireRedirectUri: flag(
    false,
    'Whether authorization requests must name their redirect URI, also where a client has only one.',
  ),
  refreshTokenExpiresIn: integer(
    1,
    315_360_000,
    2_592_000,
    'Life time of a refresh token, in seconds; each use begins it anew.',
  ),
  refreshTokenLeeway: integer(
    0,
    3_600,
    60,
    'How long a refresh token that was just used gets the same answer again, in seconds; 0: never.',
  ),
  authorizationExpiresIn: integer(
    0,
    3_153_600_000,
    0,
    'How long an authorization can be refreshed at most, in seconds; 0: without end.',
  ),
  acceptQueryAccessToken: flag(
    true,
    'Whether the query parameter access_token is accepted, as specified.',
  ),
  sessionIdleExpiresIn: integer(
    60,
    31_536_000,
    86_400,
    'After how many seconds without a request a session ends.',
  ),
  sessionExpiresIn: integer(
    60,
    31_536_000,
    1_209_600,
    'After how many seconds a session ends at the latest.',
  ),
  sessionIpv4Prefix: integer(
    0,
    32,
    32,
    'How many leading bits of an IPv4 address a session is bound to; 0: none.',
  ),
  sessionIpv6Prefix: integer(
    0,
    128,
    128,
    'How many leading bits of an IPv6 address a session is bound to; 0: none.',
  ),
  trustedProxies: {
    schema: z.array(z.string().refine(isProxy)).readonly().default([]),
    fromText: list,
    accepts: 'comma-separated addresses or networks such as 10.0.0.0/8, or unix',
    sentence:
      'Proxies whose X-Forwarded-For is believed; `unix` is a peer without an address, such as one on a Unix socket.',
    env: 'TRUSTED_PROXIES',
  },
  limits: {
    schema: z
      .partialRecord(
        z.enum(limitNames),
        z.strictObject({
          points: z.int().min(1).max(1_000_000_000),
          seconds: z.int().min(1).max(86_400),
        }),
      )
      .default({}),
    fromText: limits,
    accepts:
      'a comma-separated list such as wrongTokens=500/60, that is 500 within 60 seconds (in code: { wrongTokens: { points: 500, seconds: 60 } })',
    sentence: `Other numbers than the default ones for what is limited: ${limitNames.join(', ')}.`,
  },
  dangerouslyIgnoreLimits: flag(
    false,
    'Whether wrong passwords, secrets and tokens, and floods of requests, are taken without an end.',
  ),
  tokenQuota: integer(
    0,
    1_000_000,
    0,
    'How many requests a minute one access token is good for; 0: any number.',
  ),
  clientsPerUser: integer(
    0,
    1_000_000,
    1_000,
    'How many client applications users can register for themselves.',
  ),
  personalTokensPerUser: integer(
    0,
    1_000_000,
    1_000,
    'How many personal access tokens users can have that they created for themselves.',
  ),
  sessionsPerUser: integer(
    1,
    10_000,
    100,
    'In how many browsers a user can be logged in; with one more, the oldest login ends.',
  ),
  authorizationsPerApplication: integer(
    1,
    100_000,
    1_000,
    'How often, that is on how many devices, one application can act for one user; with one more, the oldest authorization ends.',
  ),
  tokensPerClient: integer(
    100,
    10_000_000,
    100_000,
    'About how many live tokens a client can have for itself (`client_credentials`); with more, the oldest ones end.',
  ),
  oauthPrefix: path('/oauth', 'Where the protocol endpoints stand, under the path of the issuer.'),
  openapiPath: path('/openapi.json', 'Where the OpenAPI document of the settings pages stands.'),
  loginPath: path('/login', 'Where the built-in login page stands.'),
  loginUrl: {
    schema: z
      .string()
      .regex(
        /^(?:\/(?![/\\])|https:\/\/|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])[:/])[\x21-\x7E]*$/,
      )
      .nullable()
      .default(null),
    fromText: (text: string) => text || null,
    accepts: 'a path that starts with one /, or an https address',
    sentence: "The application's own login page, which gets where to come back to as `next`.",
  },
  logoutPath: path('/logout', 'Where the built-in logout stands.'),
  settingsPrefix: path(
    '/account/settings',
    'Where the pages stand on which users manage applications, tokens and sessions.',
  ),
  adminPrefix: path('/admin', "Where the administrators' page stands."),
  applicationName: {
    schema: z.string().refine(isName).transform(validName).nullable().default(null),
    fromText: textOrNull,
    accepts: '1 to 40 characters that can be seen',
    sentence: 'What the pages call the application; without it they show the host of the issuer.',
  },
  logo: {
    schema: z
      .string()
      .regex(/^(?:\/(?![/\\])|https:\/\/)[\x21-\x7E]*$/)
      .refine((text) => text.startsWith('/') || URL.canParse(text))
      .nullable()
      .default(null),
    fromText: textOrNull,
    accepts: 'a path that starts with one /, or an https address',
    sentence: 'Image that the pages show beside the name of the application.',
  },
  accentColor: color(
    'Colour of links and buttons of the pages; to be readable on white, and under white text.',
  ),
  accentColorDark: color(
    'The same where the browser prefers dark pages; to be readable on black, and under black text.',
  ),
  sweepInterval: integer(
    0,
    86_400,
    60,
    'Every how many seconds expired rows are removed; 0: never by itself.',
  ),
  auditExpiresIn: integer(
    0,
    315_360_000,
    7_776_000,
    'After how many seconds an entry of the audit log is removed; 0: never.',
  ),
  auditRoutine: flag(
    true,
    'Whether the audit log keeps what programs do all the time: refreshes, and tokens that clients get for themselves or narrow. Hooks hear of it in any case.',
  ),
  logLevel: choice(
    ['debug', 'info', 'warn', 'error', 'silent'],
    'info',
    'How much an entry of the log must matter to be written; debug has one for every request.',
  ),
  metricsToken: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9\-._~+/]{22,255}=*$/)
      .nullable()
      .default(null),
    fromText: textOrNull,
    accepts: 'at least 22 characters of A-Z, a-z, 0-9 and -._~+/',
    sentence:
      'Switches /metrics on, for Prometheus, which has to present this as its bearer token.',
    isSecret: true,
  },
} as const satisfies Record<string, Setting<z.ZodType>>

export type Table = typeof settings
export type SettingName = keyof Table

/** Settings as code gives them: every one may be left out. */
export type SettingsInput = {
  readonly [N in SettingName]?: z.input<Table[N]['schema']> | undefined
}

/** Settings as the server reads them: every one is there. */
export type Settings = { readonly [N in SettingName]: z.output<Table[N]['schema']> }

const upperSnake = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()

/** The environment name of a setting: `OAUTH2SERVER_` and its name, unless the specification gives another. */
export const environmentName = (name: SettingName): string => {
  const setting: Setting<z.ZodType> = settings[name]
  return setting.env ?? `OAUTH2SERVER_${upperSnake(name)}`
}

export const names = Object.keys(settings) as SettingName[]
