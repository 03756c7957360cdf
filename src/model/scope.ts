import { flag, objectOf, oneOf, onlyMembers, recordOf, text } from './members.ts'
import { OAuthError } from './oauth-error.ts'
import { accessIn, type ScopeAccess } from './scope-access.ts'

/** The error for a scope that is not registered. */
export class ScopeDoesNotExists extends Error {
  override readonly name = 'ScopeDoesNotExists'
  readonly scope: string

  constructor(scope: string) {
    super(`The scope ${JSON.stringify(scope)} does not exist.`)
    this.scope = scope
  }
}

/** The options of a `Scope`. */
export interface ScopeOptions {
  /** The description that users read on the consent page. */
  readonly helpText?: string
  /** The heading under which the scope is listed. */
  readonly group?: string
  /**
   * Hides the scope from users. Clients cannot request the scope. Only code of the application and the command line can
   * assign the scope.
   */
  readonly internal?: boolean
  /**
   * Whether the scope only permits reading, or also changing data. The pages show the access in words. Default: derived
   * from a word of the ID, such as `read` in `notes:read`.
   */
  readonly access?: ScopeAccess
  /** Marks a scope with which a client could do serious harm. The pages warn of this scope in words and colour. */
  readonly risk?: 'high'
  /** Translations by language code, such as `de` or `ja`. Without a translation, pages show the default text. */
  readonly translations?: Readonly<Record<string, ScopeTexts>>
}

/** The texts of a scope in one language. */
export interface ScopeTexts {
  readonly helpText?: string
  readonly group?: string
}

const checkOptions = onlyMembers<ScopeOptions>('Scope', {
  helpText: text,
  group: text,
  internal: flag,
  access: oneOf('read', 'write'),
  risk: oneOf('high'),
  translations: recordOf(objectOf<ScopeTexts>({ helpText: text, group: text })),
})

// scope-token of RFC 6749 §3.3. The limit of 255 characters is not part of the RFC.
const scopeToken = /^[\x21\x23-\x5B\x5D-\x7E]{1,255}$/

/**
 * The scopes of the application. An application may declare its scopes as follows, so that a misspelled scope in a guard
 * does not compile:
 *
 *     declare module 'svc-oauth2server/scopes' {
 *       interface DeclaredScopes { scopes: 'notes:read' | 'notes:write' }
 *     }
 *
 * The union can also be derived from an array of `Scope` objects: `(typeof scopes)[number]['id']`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the application adds the property
export interface DeclaredScopes {}

/**
 * The ID of a scope that a guard requires: a declared scope or the built-in `user:email`; any text if the application
 * declares no scopes.
 */
export type ScopeName = DeclaredScopes extends { readonly scopes: infer Declared extends string }
  ? Declared | 'user:email'
  : string

/** A permission that a client can hold, for instance `notes:read`. */
export class Scope<const Id extends string = string> {
  readonly id: Id
  readonly helpText: string
  readonly group: string
  readonly isInternal: boolean
  /** Undefined if unknown. */
  readonly access: ScopeAccess | undefined
  readonly risk: 'high' | undefined
  readonly #translations: Readonly<Record<string, ScopeTexts>>

  /** @throws TypeError if the ID is not a scope token (RFC 6749 §3.3), or has more than 255 characters */
  constructor(id: Id, options: ScopeOptions = {}) {
    checkOptions(options)
    const { helpText = '', group = '', internal = false, access, risk, translations = {} } = options
    if (typeof id !== 'string' || !scopeToken.test(id))
      throw new TypeError(
        `new Scope(id, options): id accepts a scope token (RFC 6749 §3.3) of at most 255 characters, such as 'notes:read'; the given value is ${JSON.stringify(id)}.`,
      )
    this.id = id
    this.helpText = helpText
    this.group = group
    this.isInternal = internal
    this.access = access ?? accessIn(id)
    this.risk = risk
    this.#translations = translations
  }

  /** Returns the texts in a language. Without a translation, returns the default texts. */
  textsFor(language: string): Required<ScopeTexts> {
    const { helpText = this.helpText, group = this.group } = Object.hasOwn(
      this.#translations,
      language,
    )
      ? (this.#translations[language] ?? {})
      : {}
    return { helpText, group }
  }
}

/** The built-in scope that lets the holder of a token read the user's e-mail address. */
export const emailScope: Scope = new Scope('user:email', {
  helpText: 'Read your e-mail address',
  group: 'User',
  access: 'read',
})

/** The registered scopes of a server. */
export class ScopeRegistry {
  readonly #scopes = new Map<string, Scope>()
  #requestable: readonly string[] | undefined

  constructor(scopes: Iterable<Scope> = []) {
    for (const scope of scopes) this.register(scope)
  }

  /** @throws TypeError for a value that is not a `Scope`; Error for an ID that is already registered */
  register(scope: Scope): void {
    if (!(scope instanceof Scope)) throw new TypeError('Only a Scope can be registered.')
    if (this.#scopes.has(scope.id)) throw new Error(`The scope ${scope.id} is already registered.`)
    this.#scopes.set(scope.id, scope)
    this.#requestable = undefined
  }

  /** Returns the scope with this ID; undefined if it is not registered. */
  get(id: string): Scope | undefined {
    return this.#scopes.get(id)
  }

  /** Returns all registered scopes, sorted by ID. */
  all(): readonly Scope[] {
    return [...this.#scopes.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  /** Returns the scopes that users may choose from: all scopes except internal scopes. */
  choices(): readonly Scope[] {
    return this.all().filter(({ isInternal }) => !isInternal)
  }

  /**
   * Returns the scopes without duplicates.
   * @throws ScopeDoesNotExists for a scope that is not registered
   */
  validated(ids: Iterable<string>): readonly string[] {
    const distinct = [...new Set(ids)]
    for (const id of distinct) if (!this.#scopes.has(id)) throw new ScopeDoesNotExists(id)
    return distinct
  }

  /**
   * Returns the scopes of a token of a grant without duplicates.
   * @throws ScopeDoesNotExists for a scope that is not registered; OAuthError `invalid_scope` for an internal scope,
   * which only a personal token may have
   */
  issuable(ids: Iterable<string>): readonly string[] {
    const distinct = this.validated(ids)
    const internal = distinct.find((id) => this.#scopes.get(id)?.isInternal)
    if (internal === undefined) return distinct
    throw new OAuthError(
      'invalid_scope',
      `The scope ${internal} is internal: only a personal token may have it.`,
    )
  }

  /** Returns the given IDs that are registered. */
  registered(ids: readonly string[]): readonly string[] {
    return ids.filter((id) => this.#scopes.has(id))
  }

  /** Returns the given IDs that are registered and not internal. */
  visible(ids: readonly string[]): readonly string[] {
    return ids.filter((id) => this.#scopes.get(id)?.isInternal === false)
  }

  /** Returns the scopes that a client may request if `allowedScopes` does not limit the client. */
  requestable(): readonly string[] {
    this.#requestable ??= this.choices().map(({ id }) => id)
    return this.#requestable
  }
}

/**
 * Parses the distinct scopes of a `scope` parameter. RFC 6749 §3.3.
 * @throws OAuthError `invalid_scope` for a malformed scope
 */
export const parseScope = (text: string): readonly string[] => {
  const scopes = new Set(text.split(' ').filter((part) => part !== ''))
  for (const scope of scopes) {
    if (!scopeToken.test(scope))
      throw new OAuthError('invalid_scope', 'The scope parameter is malformed.')
  }
  return [...scopes]
}

/**
 * The scope with which a client of OpenID Connect requests a refresh token. Many clients always send this scope. A server
 * that has not registered the scope ignores it, because the grant decides whether to issue a refresh token.
 */
export const offlineAccess = 'offline_access'

/** Returns whether every scope of `inner` is in `outer`. */
export const isWithin = (inner: readonly string[], outer: readonly string[]): boolean => {
  const allowed = new Set(outer)
  return inner.every((scope) => allowed.has(scope))
}

/**
 * Returns the requested scopes, or `otherwise` for a request without scopes. A parameter of blanks names no scope, so it
 * counts as omitted like an empty parameter (RFC 6749 §3.1). Ignores `offline_access` if `within` does not contain this
 * scope. A request for `offline_access` alone is then a request without scopes.
 * @throws OAuthError `invalid_scope` if `within` does not contain a scope. This includes the scopes of `otherwise`,
 * because a grant of the application may pass any defaults.
 */
export const narrow = (
  requested: string | undefined,
  { within, otherwise }: { within: readonly string[]; otherwise: readonly string[] },
): readonly string[] => {
  const scopes = parseScope(requested ?? '').filter(
    (scope) => scope !== offlineAccess || within.includes(scope),
  )
  return allWithin(scopes.length > 0 ? scopes : otherwise, within)
}

const allWithin = (scopes: readonly string[], within: readonly string[]): readonly string[] => {
  const refused = scopes.find((scope) => !within.includes(scope))
  if (refused === undefined) return scopes
  throw new OAuthError(
    'invalid_scope',
    `The scope ${refused} is unknown, or this client may not request it.`,
  )
}
