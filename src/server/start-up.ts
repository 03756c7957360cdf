import { resolve } from 'node:path'
import { checksumLength } from '../crypto/checksum.ts'
import { requireArgon2 } from '../crypto/passwords/argon2.ts'
import { weaknessOf } from '../crypto/weak-secret.ts'
import { unknownName } from '../model/likely-name.ts'
import { loopbackHosts } from '../model/loopback.ts'
import { type Accepted, object, objectOf } from '../model/members.ts'
import { openidScopes } from '../model/openid-scopes.ts'
import { type ProtectedResource, resourceNamed } from '../model/protected-resource.ts'
import { emailScope, type Scope, ScopeDoesNotExists, ScopeRegistry } from '../model/scope.ts'
import type { VerifyJwt } from '../model/verify-jwt.ts'
import { ownLimits } from '../protocol/extension-names.ts'
import { InvalidSettings } from '../settings/invalid-settings.ts'
import { limitNames } from '../settings/limit-table.ts'
import { parseSettings } from '../settings/parse-settings.ts'
import { names, type Settings } from '../settings/settings.ts'
import { acceptedOptions, numbersOfLimit } from './accepted-options.ts'
import { entryPointScopes } from './entry-points.ts'
import { extensionProblems } from './extension-problems.ts'
import { importPath, whyNotImported } from './import-path.ts'
import type { AuthorizationServerOptions } from './options.ts'

const minKeyBytes = 32
const errorsName = 'svc_oauth2server.errors'
/** The maximum number of characters of a token (specification, Limits). */
const maxTokenLength = 255

/**
 * Checks the options before the store is opened.
 * @throws InvalidSettings, which lists the problems
 */
export const checkedOptions = async (options: AuthorizationServerOptions) => {
  const problems: string[] = []
  const attempt = <T>(check: () => T): T | undefined => {
    try {
      return check()
    } catch (error) {
      if (error instanceof InvalidSettings) problems.push(...error.problems)
      else problems.push(error instanceof Error ? error.message : String(error))
      return undefined
    }
  }
  const unknown = Object.keys(options).filter((name) => !optionNames.includes(name))
  problems.push(...unknown.map((name) => unknownName(name, 'an option', optionNames)))
  const wrong = Object.entries<Accepted>(acceptedOptions).flatMap(([name, option]) => {
    const value: unknown = Reflect.get(options, name)
    return value === undefined && option.isRequired !== true ? [] : option.problems(name, value)
  })
  problems.push(...(wrong.length > 0 ? wrong : limitsProblems(options)))
  const settings = attempt(() => parseSettings({ ...options, cacheType: cacheTypeOf(options) }))
  const issuer = attempt(() => checkedIssuer(options.issuer))
  const secrets = attempt(() => checkedSecrets(options.secretKeys))
  // The further checks read these values.
  if (wrong.length > 0) throw new InvalidSettings(problems)
  // Argon2 is not needed if the application has its own users, because the application then checks the passwords.
  if (options.users === undefined)
    await requireArgon2().catch((error: Error) => problems.push(error.message))
  const declared = await entryPoints(options).catch((error: Error) => {
    problems.push(error.message)
    return []
  })
  const own = [...(options.scopes ?? []), ...declared]
  // The application may declare a scope of OpenID Connect itself, to describe the scope in its own words.
  const openid = settings?.openidConnect
    ? openidScopes.filter(({ id }) => !own.some((scope) => scope?.id === id))
    : []
  const scopes = attempt(
    () => new ScopeRegistry(withoutRepetition([emailScope, ...openid, ...own])),
  )
  if (settings && scopes) attempt(() => checkDefaultScopes(settings, scopes))
  problems.push(...combinationProblems(settings, options))
  problems.push(...extensionProblems(options.extensions ?? []))
  const resources =
    scopes && attempt(() => checkedResources(options.resources ?? [], scopes, issuer))
  if (settings && issuer && resources)
    problems.push(...defaultResourceProblems(settings, [{ resource: issuer }, ...resources]))
  if (problems.length > 0 || !settings || !issuer || !secrets || !scopes || !resources)
    throw new InvalidSettings(problems)

  const basePath = new URL(issuer).pathname.replace(/\/$/, '')
  const view = attempt(() => errorView(settings, basePath, options.views))
  if (view === undefined) throw new InvalidSettings(problems)
  const described = resourceNamed(resources, issuer)
  const whole = { ...described, resource: issuer }
  // The first resource is the whole application, whose identifier is the issuer.
  const all: readonly ProtectedResource[] = [
    whole,
    ...resources.filter((resource) => resource !== described),
  ]
  return { settings, issuer, basePath, secrets, scopes, errorView: view, resources: all }
}

const optionNames: readonly string[] = [...Object.keys(acceptedOptions), ...names]

// The schema of the setting refuses other values.
const limitsProblems = ({
  limits,
  extensions = [],
}: AuthorizationServerOptions): readonly string[] => {
  if (object.problems('limits', limits).length > 0) return []
  const own = extensions.flatMap(({ names }) => (names ? ownLimits(names) : []))
  const known = [...limitNames, ...own].map((name) => [name, objectOf(numbersOfLimit)] as const)
  return objectOf(Object.fromEntries(known)).problems('limits', limits)
}

const checkedResources = (
  resources: readonly ProtectedResource[],
  scopes: ScopeRegistry,
  issuer: string | undefined,
): readonly ProtectedResource[] => {
  const problems = resources.flatMap(({ resource, scopes: own = [] }) => {
    const unknown = own.filter((scope) => !scopes.requestable().includes(scope))
    const invalid = identifierProblems(resource, issuer)
    const all = [...invalid, ...unknown.map((scope) => `clients cannot request the scope ${scope}`)]
    return all.map((why) => `resources: ${JSON.stringify(resource)}: ${why}.`)
  })
  const isRepeated = (one: ProtectedResource) => resourceNamed(resources, one.resource) !== one
  if (problems.length === 0 && resources.some(isRepeated))
    problems.push('resources: two resources have the same identifier.')
  if (problems.length > 0) throw new InvalidSettings(problems)
  return resources
}

const defaultResourceProblems = (
  { defaultResource, resourceIndicators }: Settings,
  known: readonly ProtectedResource[],
): readonly string[] => {
  if (defaultResource === null) return []
  if (!resourceIndicators)
    return ['defaultResource (OAUTH2SERVER_DEFAULT_RESOURCE) needs resourceIndicators.']
  if (resourceNamed(known, defaultResource)) return []
  return [
    `defaultResource (OAUTH2SERVER_DEFAULT_RESOURCE) must be one of ${known.map(({ resource }) => resource).join(', ')}; the given value is ${JSON.stringify(defaultResource)}.`,
  ]
}

const identifierProblems = (resource: string, issuer: string | undefined): readonly string[] => {
  if (!isIdentifier(resource))
    return [
      'it must be an https URL (http only for localhost, 127.0.0.1 and [::1]) in normalized form, without credentials, a query or a fragment',
    ]
  const { origin, pathname } = new URL(resource)
  // The metadata URL of this resource contains the path of the resource (RFC 9728 §3.1), so the path must be
  // unambiguous.
  const isServedHere = issuer !== undefined && origin === new URL(issuer).origin
  return isServedHere && !plainPath.test(pathname)
    ? ['on the origin of the issuer, its path may contain only letters, digits and -._~']
    : []
}

// RFC 8707 §2, RFC 9728 §1.2. The identifier must be normalized, because the URL parsers of clients normalize it, and
// the server compares strings.
const isIdentifier = (resource: unknown): boolean => {
  if (typeof resource !== 'string' || !URL.canParse(resource) || /[?#\s]/.test(resource))
    return false
  const { protocol, hostname, username, password, href, origin } = new URL(resource)
  const isSafe = protocol === 'https:' || (protocol === 'http:' && loopbackHosts.includes(hostname))
  const isNormal = href === resource || origin === resource
  return isSafe && isNormal && username === '' && password === ''
}

const cacheTypeOf = ({ cacheType, transients }: AuthorizationServerOptions): unknown => {
  if (cacheType !== undefined) return cacheType
  return transients ? 'redis' : 'database'
}

/** Returns the problems of settings and options that require or exclude each other. */
const combinationProblems = (
  settings: Settings | undefined,
  { users, resourceOwner, sendUserLink, registerClient, transients }: AuthorizationServerOptions,
): readonly string[] => {
  const { cacheType, loginUrl, logoutUrl = null, dynamicRegistration } = settings ?? {}
  const { tokenPersonalPrefix: prefix = '', tokenPersonalSaltLen: saltLength = 0 } = settings ?? {}
  const tokenLength = prefix.length + saltLength + checksumLength
  const problems: readonly (readonly [isPresent: unknown, sentence: string])[] = [
    [
      cacheType === 'redis' && !transients,
      'cacheType (OAUTH2_CACHE_TYPE) redis needs the option transients (OAUTH2_CACHE_REDIS_URL): the URL of Redis.',
    ],
    [
      settings && cacheType !== 'redis' && transients,
      `cacheType (OAUTH2_CACHE_TYPE) ${cacheType} cannot be combined with the option transients: remove one of them.`,
    ],
    [
      resourceOwner && loginUrl === null,
      'loginUrl (OAUTH2SERVER_LOGIN_URL), the URL where users log in, is required with resourceOwner.',
    ],
    [
      !resourceOwner && logoutUrl !== null,
      'logoutUrl (OAUTH2SERVER_LOGOUT_URL) requires resourceOwner: the built-in login has its own logout.',
    ],
    [
      users && !resourceOwner && !users.withPassword,
      'users needs the option resourceOwner, for your own login, or withPassword in users, for the built-in login: without one of them, nobody can log in.',
    ],
    [
      sendUserLink && (users || resourceOwner),
      'sendUserLink requires the built-in users and the built-in login: remove sendUserLink, or the options users and resourceOwner.',
    ],
    [
      settings?.signUp && !sendUserLink,
      'signUp (OAUTH2SERVER_SIGN_UP) needs the option sendUserLink.',
    ],
    [
      settings?.allowFrontChannelIdTokens && !settings.openidConnect,
      'allowFrontChannelIdTokens (OAUTH2SERVER_ALLOW_FRONT_CHANNEL_ID_TOKENS) requires openidConnect (OAUTH2SERVER_OPENID_CONNECT).',
    ],
    [
      settings?.requireDpopNonce && settings.dpop === 'off',
      'requireDpopNonce (OAUTH2SERVER_REQUIRE_DPOP_NONCE) requires dpop (OAUTH2SERVER_DPOP).',
    ],
    [
      dynamicRegistration === 'token' && settings?.initialAccessToken === null && !registerClient,
      'dynamicRegistration (OAUTH2SERVER_DYNAMIC_REGISTRATION) token needs initialAccessToken (OAUTH2SERVER_INITIAL_ACCESS_TOKEN), or the option registerClient.',
    ],
    [
      prefix !== '' && tokenLength > maxTokenLength,
      `tokenPersonalPrefix (OAUTH2SERVER_TOKEN_PERSONAL_PREFIX) and tokenPersonalSaltLen (OAUTH2SERVER_TOKEN_PERSONAL_SALT_LEN) result in tokens of ${tokenLength} characters; the maximum is ${maxTokenLength}.`,
    ],
  ]
  return problems.flatMap(([isPresent, sentence]) => (isPresent ? [sentence] : []))
}

const entryPoints = async ({
  applicationRoot,
}: AuthorizationServerOptions): Promise<readonly Scope[]> =>
  applicationRoot === undefined ? [] : entryPointScopes(resolve(applicationRoot))

// Both the options and an entry point may register the same Scope object. Different objects with the same ID
// remain, and `ScopeRegistry` rejects them.
const withoutRepetition = (scopes: readonly Scope[]): readonly Scope[] => [...new Set(scopes)]

const plainPath = /^(?:\/[A-Za-z0-9\-._~]+)*\/?$/

const checkedIssuer = (issuer: unknown): string => {
  const refuse = (why: string) =>
    new InvalidSettings([`issuer (BASE_URL) ${why}; the given value is ${JSON.stringify(issuer)}.`])
  if (typeof issuer !== 'string' || !URL.canParse(issuer))
    throw refuse('must be a URL such as https://api.example.org')
  const { protocol, hostname, search, hash, username, password, origin, pathname } = new URL(issuer)
  if (search !== '' || hash !== '' || username !== '' || password !== '' || /[?#]/.test(issuer)) {
    throw refuse('must not have a query, a fragment or credentials')
  }
  const isSafe = protocol === 'https:' || (protocol === 'http:' && loopbackHosts.includes(hostname))
  if (!isSafe) throw refuse('must use https; http is for localhost, 127.0.0.1 and [::1] only')
  if (!plainPath.test(pathname)) throw refuse('must have a path of letters, digits and -._~ only')
  return `${origin}${pathname.replace(/\/$/, '')}`
}

const checkedSecrets = (
  secrets: readonly (string | undefined)[],
): readonly [string, ...string[]] => {
  const given: unknown = secrets ?? []
  const isKey = (key: unknown) => key === undefined || typeof key === 'string'
  if (!Array.isArray(given) || !given.every(isKey))
    throw new InvalidSettings(['secretKeys (SECRET_KEY) must be an array of strings.'])
  const [current, ...previous]: readonly (string | undefined)[] = given
  if (current === undefined)
    throw new InvalidSettings([
      'secretKeys (SECRET_KEY) is missing: configure a key of at least 32 random bytes.',
    ])
  const all: [string, ...string[]] = [current, ...previous.filter((secret) => secret !== undefined)]
  if (all.some((secret) => Buffer.byteLength(secret) < minKeyBytes)) {
    throw new InvalidSettings([
      `secretKeys (SECRET_KEY, SECRET_KEY_PREVIOUS): each key must have at least ${minKeyBytes} bytes.`,
    ])
  }
  const weakness = all.map(weaknessOf).find((reason) => reason !== undefined)
  if (weakness !== undefined) {
    throw new InvalidSettings([
      `secretKeys (SECRET_KEY, SECRET_KEY_PREVIOUS): a key ${weakness}. Each key must be random: openssl rand -base64 48 prints a random key.`,
    ])
  }
  return all
}

const checkDefaultScopes = ({ defaultScopes }: Settings, scopes: ScopeRegistry): void => {
  try {
    scopes.validated(defaultScopes)
  } catch (error) {
    if (!(error instanceof ScopeDoesNotExists)) throw error
    throw new InvalidSettings([
      `defaultScopes (OAUTH2SERVER_DEFAULT_SCOPES) accepts registered scopes; the given value is ${JSON.stringify(error.scope)}.`,
    ])
  }
}

const errorView = (
  { errorEndpoint, oauthPrefix }: Settings,
  basePath: string,
  views: Readonly<Record<string, string>> = {},
): string => {
  if (errorEndpoint === errorsName) return `${basePath}${oauthPrefix}/errors`
  if (errorEndpoint.startsWith('/')) return errorEndpoint
  const path = Object.hasOwn(views, errorEndpoint) ? views[errorEndpoint] : undefined
  if (path?.startsWith('/') && !/^\/[/\\]/.test(path)) return path
  const accepted = [errorsName, ...Object.keys(views)].join(', ')
  throw new InvalidSettings([
    `errorEndpoint (OAUTH2_PROVIDER_ERROR_ENDPOINT) accepts ${accepted}, or a path that starts with one /; the given value is ${JSON.stringify(errorEndpoint)}.`,
  ])
}

/**
 * Returns the function that verifies session JWTs. Loads the function if the setting is an import path.
 * @throws InvalidSettings if the function cannot be loaded
 */
export const loadVerifyJwt = async (
  { applicationRoot = '.' }: AuthorizationServerOptions,
  { jwtVeryficationFactory }: Settings,
): Promise<VerifyJwt> => {
  if (typeof jwtVeryficationFactory === 'function') return jwtVeryficationFactory
  const verify = await importPath(jwtVeryficationFactory, resolve(applicationRoot)).catch(
    (cause: unknown) => {
      throw new InvalidSettings([
        `jwtVeryficationFactory (OAUTH2SERVER_JWT_VERYFICATION_FACTORY) ${jwtVeryficationFactory} cannot be loaded: ${whyNotImported(cause)}`,
      ])
    },
  )
  if (typeof verify === 'function') return verify as VerifyJwt
  throw new InvalidSettings([
    `jwtVeryficationFactory (OAUTH2SERVER_JWT_VERYFICATION_FACTORY) ${jwtVeryficationFactory} is not a function.`,
  ])
}
