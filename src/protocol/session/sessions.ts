import { serialize } from 'hono/utils/cookie'
import type { JWTPayload } from 'jose'
import { constantTimeEqual, type Digest, digestOf } from '../../crypto/digest.ts'
import { randomString } from '../../crypto/random.ts'
import { noteUser } from '../../http/request-scope.ts'
import type { PresentedCredentials, SessionCheck, SignedIn } from '../../model/auth.ts'
import { storedUserAgent } from '../../model/bounds.ts'
import { type StoredSession, sessionClaims } from '../../model/entities/session.ts'
import { JWTExtendedException } from '../../model/jwt-error.ts'
import type { SessionEnd } from '../../model/session-end.ts'
import { type User, type UserId, UserProxy, type UserSource } from '../../model/user.ts'
import type { JwtContext, VerifyJwt } from '../../model/verify-jwt.ts'
import { byUser, ofUser } from '../../records/audit/audit-trail.ts'
import {
  earliestRow,
  type RecordsContext,
  retryOnCollision,
  userOfRow,
} from '../../records/context.ts'
import { reportTampered } from '../../records/seals/refused-row.ts'
import { hasStill } from '../../records/users/built-in-users.ts'
import { ReferenceNotFound } from '../../store/contract/errors.ts'
import type { Cursor, Page } from '../../store/contract/page.ts'
import type { Store } from '../../store/store.ts'
import { isSameNetwork } from './client-address.ts'
import { CookieJar } from './cookie-jar.ts'
import { createJwt } from './jwt.ts'

/** The parts of a request that identify its session and its browser. */
export type BrowserCredentials = Pick<
  PresentedCredentials,
  'cookie' | 'address' | 'userAgent' | 'raw'
>

/** The CSRF token of a form, and the cookie to which it is bound. */
export interface CsrfProtection {
  readonly csrfToken: string
  /** The `Set-Cookie` value for a browser without the cookie. */
  readonly setCookie?: string
}

/** The user whom the application has logged in, with facts about the login. */
export interface LoggedInUser {
  readonly id: UserId
  /** The ID of the application's session. Pages and requests of this server are bound to this session. */
  readonly sessionId?: string | undefined
  /** The time at which the user entered a credential: a date, or milliseconds since the epoch. */
  readonly authTime?: Date | number | undefined
  /** The methods of the login, such as `pwd` and `otp` (RFC 8176 §2). */
  readonly amr?: readonly string[] | undefined
  /** The class of the login (OpenID Connect Core §2). */
  readonly acr?: string | undefined
}

/** The user whom the application has logged in: the user ID, or an object with facts about the login. */
export type ResourceOwner = UserId | LoggedInUser | null | undefined

/**
 * Returns the user whom the application has logged in.
 * @typeParam Sent the type of a request in the framework of the application
 */
// biome-ignore lint/suspicious/noExplicitAny: the adapter determines the type, and `unknown` would require a check
export type FindResourceOwner<Sent = any> = (
  request: Sent,
) => ResourceOwner | Promise<ResourceOwner>

/**
 * The maximum number of sessions that one login ends. Usually, one session is surplus. After the limit of sessions was
 * lowered, many sessions may be surplus.
 */
const maxEndedAtLogin = 100

/** The attributes of the session cookie. */
const attributes = { path: '/', secure: true, httpOnly: true, sameSite: 'Lax' } as const

/** Returns the milliseconds between two updates of `lastSeenAt`: a tenth of the idle time, at most a minute. */
const touchInterval = (idleSeconds: number): number => Math.min(60_000, idleSeconds * 100)

/**
 * The sessions of browsers. The cookie contains the random identifier of the session, and the store contains the digest
 * of the identifier. A session is bound to the IP network and the user agent of the browser.
 */
export class Sessions implements SessionCheck {
  readonly #context: RecordsContext
  readonly #verifyJwt: VerifyJwt
  readonly #issuer: string
  readonly #users: UserSource
  /** The sessions whose seals were verified. */
  readonly #intact = new WeakSet<StoredSession>()
  readonly #resourceOwner: FindResourceOwner | undefined
  readonly #cookies: CookieJar

  /** @internal */
  constructor(
    context: RecordsContext,
    users: UserSource,
    issuer: string,
    verifyJwt: VerifyJwt,
    resourceOwner?: FindResourceOwner,
  ) {
    this.#resourceOwner = resourceOwner
    this.#context = context
    this.#issuer = issuer
    this.#verifyJwt = verifyJwt
    this.#users = users
    this.#cookies = new CookieJar(issuer)
  }

  /** The name of the cookie. Browsers bind a `__Host-` cookie to this host, and accept it only over HTTPS. */
  get cookieName(): string {
    return this.#cookies.sessionName
  }

  /**
   * Starts a session with a new identifier, and ends the former session of the browser. If the user has too many
   * sessions, the oldest session ends.
   * @param passwordHash the password hash that the login verified, to detect a concurrent change of the password
   * @returns the `Set-Cookie` value
   * @throws ReferenceNotFound if the user was deleted or deactivated, or the password was changed
   */
  async signIn(
    userId: UserId,
    browser: BrowserCredentials,
    passwordHash?: string | null,
  ): Promise<string> {
    const { store, turns, settings, clock, random, keys, audit } = this.#context
    const { identifier: former, name } = this.#cookies.session(browser.cookie)
    return retryOnCollision(() =>
      turns.transaction(store, `user ${userId}`, async (tx) => {
        const within = { ...this.#context, store: tx }
        const user = await this.#context.users.find(userId, within)
        if (!user?.active || (passwordHash && !(await hasStill(userId, passwordHash, within))))
          throw new ReferenceNotFound('The user was changed after the password was verified.')
        const identifier = this.#cookies.newIdentifier(random)
        const now = clock()
        const fields = {
          id: digestOf('session', identifier),
          userId,
          address: browser.address,
          userAgent: storedUserAgent(browser.userAgent),
          createdAt: now,
          expiresAt: now + settings.sessionExpiresIn * 1000,
          lastSeenAt: now,
        }
        const session = { ...fields, seal: keys.sealRow(sessionClaims(fields)) }
        if (former !== undefined) await this.#replace(former, fields, browser, tx)
        const idleSince = now - settings.sessionIdleExpiresIn * 1000
        const most = settings.sessionsPerUser - 1
        const ended = await tx.sessions.deleteSurplus(
          { userId, now, idleSince },
          { keep: most, limit: maxEndedAtLogin },
        )
        if (!(await tx.sessions.insert(session))) return undefined
        const { address, userAgent } = fields
        const by = { ...byUser(user), address, userAgent }
        if (ended > 0) await this.#ended(tx, userId, 'limit', ended, user)
        await audit.add(tx, 'login.succeeded', { ...ofUser(user), by, details: {} })
        return serialize(name, identifier, attributes)
      }),
    )
  }

  /** Returns the ID of the session in the value of a `Cookie` or `Set-Cookie` header; undefined without a session. */
  idIn(cookie: string): Digest | undefined {
    const identifier = this.#identifier(cookie)
    return identifier === undefined ? undefined : digestOf('session', identifier)
  }

  /** Ends the session of this browser. @returns the `Set-Cookie` value that clears the session cookie */
  async signOut(browser: BrowserCredentials): Promise<string> {
    const { identifier, name } = this.#cookies.session(browser.cookie)
    if (identifier !== undefined)
      await this.#end(identifier, browser, 'logout', this.#context.store)
    return serialize(name, '', { ...attributes, maxAge: 0 })
  }

  /** Returns the signed-in user, or undefined if the session ended, is invalid, or belongs to another browser. */
  async signedIn(browser: BrowserCredentials): Promise<SignedIn | undefined> {
    const { store, clock, settings, keys } = this.#context
    if (this.#resourceOwner) return this.#ownerSignedIn(await this.#resourceOwner(browser.raw))
    const identifier = this.#identifier(browser.cookie)
    if (identifier === undefined) return undefined
    const found = await store.sessions.find(digestOf('session', identifier))
    const known = found && (await userOfRow(found.session, found.user, this.#context))
    if (
      !found ||
      !known?.active ||
      !this.isLive(found.session) ||
      !this.#isSameBrowser(found.session, browser)
    ) {
      return undefined
    }
    noteUser(known)
    const { session } = found
    const now = clock()
    if (now - session.lastSeenAt > touchInterval(settings.sessionIdleExpiresIn)) {
      const seal = keys.sealRow(sessionClaims({ ...session, lastSeenAt: now }))
      await store.sessions.update({ id: session.id }, { lastSeenAt: now, seal })
    }
    return {
      user: new UserProxy(known, this.#users),
      sessionId: session.id,
      loggedInAt: session.createdAt,
      amr: ['pwd'],
    }
  }

  /** Returns whether the session of this browser is expired or idle for too long. */
  async hasExpired(browser: BrowserCredentials): Promise<boolean> {
    const identifier = this.#resourceOwner ? undefined : this.#identifier(browser.cookie)
    if (identifier === undefined) return false
    const found = await this.#context.store.sessions.find(digestOf('session', identifier))
    const user = found && (await userOfRow(found.session, found.user, this.#context))
    if (!found || !user?.active || !this.#isSameBrowser(found.session, browser)) return false
    return !this.#isCurrent(found.session) && this.#isIntact(found.session)
  }

  /** Whether the sessions belong to the application, which logs users in itself. */
  get isHosted(): boolean {
    return this.#resourceOwner !== undefined
  }

  /**
   * Returns the ID of the session to which a code is bound. Returns null for a session of the application, because this
   * server cannot know when that session ends.
   */
  rowOf({ sessionId }: SignedIn): string | null {
    return this.#resourceOwner ? null : sessionId
  }

  /** Returns whether a session exists, has not expired and is intact. */
  async isAlive(sessionId: string): Promise<boolean> {
    const found = await this.#context.store.sessions.find(sessionId as StoredSession['id'])
    return this.isLive(found?.session)
  }

  /** Lists the sessions of a user, beginning with the latest login. */
  async listByUser(userId: UserId, cursor: Cursor): Promise<Page<StoredSession>> {
    const { items, next } = await this.#context.store.sessions.list('ofUser', { userId }, cursor)
    const earliest = await earliestRow(userId, this.#context)
    const own = items.filter(({ createdAt }) => createdAt >= earliest)
    return { items: own.filter((session) => this.isLive(session)), next }
  }

  /** Ends a session of a user. Returns false if the session does not exist or belongs to another user. */
  async endOne(userId: UserId, id: string): Promise<boolean> {
    const { store } = this.#context
    // Find the session before the transaction. In a transaction, `find` locks the row in share mode, and two concurrent
    // requests would wait for each other.
    const found = await store.sessions.find(id as StoredSession['id'])
    if (found?.session.userId !== userId) return false
    return store.transaction(async (tx) => {
      if (!(await tx.sessions.delete({ id: found.session.id }))) return false
      await this.#ended(tx, userId, 'elsewhere', 1, found.user)
      return true
    })
  }

  /** Returns the session with this cookie value, if the session is alive. Does not check the browser. */
  findByValue(value: string): Promise<StoredSession | undefined> {
    return this.findByDigest(digestOf('session', value))
  }

  /** Returns the session with this digest, if the session is alive. */
  async findByDigest(digest: Digest): Promise<StoredSession | undefined> {
    const found = await this.#context.store.sessions.find(digest)
    const user = found && (await userOfRow(found.session, found.user, this.#context))
    return user && this.isLive(found.session) ? found.session : undefined
  }

  /** Ends all sessions of a user, for an administrator. */
  async endAll(user: Pick<User, 'id' | 'email'>): Promise<void> {
    await this.#context.store.transaction(async (tx) => {
      const count = await tx.sessions.delete({ userId: user.id })
      if (count > 0) await this.#ended(tx, user.id, 'administrator', count, user)
    })
  }

  /** Ends all sessions of the user except the given session. */
  async endOthers({ user, sessionId }: SignedIn): Promise<void> {
    await this.#context.store.transaction(async (tx) => {
      const count = await tx.sessions.delete({
        userId: user.id,
        id: { not: sessionId as StoredSession['id'] },
      })
      if (count > 0) await this.#ended(tx, user.id, 'elsewhere', count, user)
    })
  }

  #ended(
    tx: Store,
    userId: UserId,
    reason: Exclude<SessionEnd, 'password'>,
    count: number,
    user?: Pick<User, 'email'> | null,
  ): Promise<void> {
    // Name the user of the ended session, because a login of another user may have ended it.
    const email = user?.email ?? ''
    const by =
      reason === 'elsewhere' || reason === 'administrator'
        ? undefined
        : byUser({ id: userId, email })
    const about = { userId, userEmail: user?.email ?? null, details: { reason, count } }
    return this.#context.audit.add(tx, 'session.ended', { ...about, ...(by && { by }) })
  }

  /** Creates the JWT for the pages of this session. */
  jwtToken(signedIn: SignedIn): Promise<string> {
    return createJwt(this.#jwtContext(signedIn), randomString(22, this.#context.random))
  }

  /** Returns the error for a JWT that does not belong to the session; undefined for the JWT of the session. */
  async jwtRefusal(
    headers: Headers,
    signedIn: SignedIn,
  ): Promise<JWTExtendedException | undefined> {
    try {
      const claims: JWTPayload = await this.#verifyJwt(headers, this.#jwtContext(signedIn))
      if (typeof claims !== 'object' || claims === null)
        throw new TypeError('The verification factory returned no claims.')
      return undefined
    } catch (error) {
      if (error instanceof JWTExtendedException) return error
      throw error
    }
  }

  /** Returns the CSRF token for forms, bound to the browser's cookie. Creates a cookie for a browser without one. */
  csrf(cookie: string | null): CsrfProtection {
    const { keys, random } = this.#context
    const { identifier: known, name } = this.#cookies.session(cookie)
    const identifier = known ?? this.#cookies.newIdentifier(random)
    const csrfToken = keys.csrfTokens(identifier)[0] ?? ''
    return known === undefined
      ? { csrfToken, setCookie: serialize(name, identifier, attributes) }
      : { csrfToken }
  }

  /** Returns whether the browser sent a session cookie of this server, valid or not. */
  hasCookie(cookie: string | null): boolean {
    return this.#cookies.session(cookie).isSent
  }

  /** Returns whether the CSRF token of a form belongs to the browser's cookie. */
  isCsrfToken(cookie: string | null, token: string | undefined): boolean {
    const identifier = this.#identifier(cookie)
    if (identifier === undefined || token === undefined) return false
    return this.#context.keys
      .csrfTokens(identifier)
      .some((valid) => constantTimeEqual(valid, token))
  }

  /**
   * Returns a text that identifies the browser that sends a form: the digest of its cookie, and the session of the
   * application, if the application logs users in. Undefined for a browser without a cookie.
   */
  async formOwner(browser: BrowserCredentials): Promise<string | undefined> {
    const identifier = this.#identifier(browser.cookie)
    if (identifier === undefined) return undefined
    const hosted = this.#resourceOwner ? await this.signedIn(browser) : undefined
    return `${digestOf('session', identifier)} ${hosted?.sessionId ?? ''}`
  }

  /** Returns the values of `formOwner` after the browser has received these `Set-Cookie` values. */
  formOwnersIn(setCookies: readonly string[]): readonly string[] {
    return setCookies.flatMap((setCookie) => {
      const identifier = this.#identifier(setCookie.split(';')[0] ?? '')
      return identifier === undefined ? [] : [`${digestOf('session', identifier)} `]
    })
  }

  // If the same user logs in again, assign the client logins to the new session. Clients are not notified of a logout.
  async #replace(
    former: string,
    { id, userId }: Pick<StoredSession, 'id' | 'userId'>,
    browser: BrowserCredentials,
    tx: Store,
  ): Promise<void> {
    const ended = await this.#end(former, browser, 'login', tx)
    if (this.#context.settings.openidConnect && ended?.userId === userId)
      await tx.clientLogins.update({ session: ended.id }, { session: id })
  }

  // Require the browser of the session, so that an attacker with a stolen cookie cannot end the session.
  async #end(
    identifier: string,
    browser: BrowserCredentials,
    reason: 'login' | 'logout',
    store: Store,
  ): Promise<StoredSession | undefined> {
    const found = await store.sessions.find(digestOf('session', identifier))
    if (!found || !this.#isSameBrowser(found.session, browser)) return undefined
    const { id, userId } = found.session
    await store.transaction(async (tx) => {
      if (await tx.sessions.delete({ id })) await this.#ended(tx, userId, reason, 1, found.user)
    })
    return found.session
  }

  async #ownerSignedIn(owner: ResourceOwner): Promise<SignedIn | undefined> {
    if (owner === null || owner === undefined) return undefined
    const facts: LoggedInUser = typeof owner === 'object' ? owner : { id: owner }
    const { id, sessionId, authTime, amr, acr } = facts
    const user = await this.#users.find(id)
    if (!user?.active) return undefined
    noteUser(user)
    // Use a digest, because the identifier may be the secret in the host's cookie.
    return {
      user: new UserProxy(user, this.#users),
      sessionId: digestOf('session', sessionId ?? `user ${id}`),
      loggedInAt: authTime === undefined ? null : Number(authTime),
      amr,
      acr,
    }
  }

  #identifier(cookie: string | null): string | undefined {
    return this.#cookies.session(cookie).identifier
  }

  /** Returns whether a session exists, has not ended and was not tampered with. @internal */
  isLive(session: StoredSession | undefined): boolean {
    return session !== undefined && this.#isCurrent(session) && this.#isIntact(session)
  }

  #isCurrent({ expiresAt, lastSeenAt }: StoredSession): boolean {
    const { clock, settings } = this.#context
    const now = clock()
    return expiresAt > now && lastSeenAt + settings.sessionIdleExpiresIn * 1000 > now
  }

  #isIntact(session: StoredSession): boolean {
    const { seal, userId } = session
    // The store returns the same object while the row is unchanged.
    if (this.#intact.has(session)) return true
    if (this.#context.keys.isIntact(seal, sessionClaims(session))) {
      this.#intact.add(session)
      return true
    }
    reportTampered('session', { userId }, this.#context)
    return false
  }

  #isSameBrowser(session: StoredSession, { address, userAgent }: BrowserCredentials): boolean {
    const { sessionIpv4Prefix, sessionIpv6Prefix } = this.#context.settings
    const isInNetwork = isSameNetwork(session.address, address, {
      ipv4: sessionIpv4Prefix,
      ipv6: sessionIpv6Prefix,
    })
    if (isInNetwork && session.userAgent === storedUserAgent(userAgent)) return true
    this.#context.log({
      level: 'warn',
      event: 'session.moved',
      message:
        'A request with a session cookie came from another network or browser. The request was refused; the session remains valid.',
      userId: session.userId,
      address,
    })
    return false
  }

  #jwtContext({ user, sessionId }: SignedIn): JwtContext {
    const { keys, clock, settings } = this.#context
    return {
      userId: user.id,
      sessionId,
      audience: this.#issuer,
      keys: keys.sessionKeys,
      now: clock(),
      expiresIn: settings.jwtExpiresIn,
      header: settings.jwtAuthHeader,
      headerType: settings.jwtAuthHeaderType,
    }
  }
}
