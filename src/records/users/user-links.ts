import type { Digest } from '../../crypto/digest.ts'
import { validEmail } from '../../model/email-address.ts'
import { validPassword } from '../../model/field-rules.ts'
import type { User, UserId } from '../../model/user.ts'
import type { UserLinkPurpose } from '../../model/user-link.ts'
import { byUser } from '../audit/audit-trail.ts'
import type { RecordsContext } from '../context.ts'
import { TransientValues } from '../transient-values.ts'
import { changeUser, insertUser, resetPassword, userWithMark } from './built-in-users.ts'

/** The seconds for which a link is valid. */
export const linkLifetime = 3_600

/** A link that was opened and is still valid. */
export interface OpenedLink {
  readonly purpose: UserLinkPurpose
  readonly email: string
  /** The path to open after the login. */
  readonly next: string
  /** The CSRF token of the browser that requested the link. Only this browser may open `next`. */
  readonly browser: string | undefined
}

/** A link that was created for a recipient. */
export interface CreatedLink extends Pick<OpenedLink, 'purpose' | 'email'> {
  readonly token: string
}

/** The stored value of a link. */
interface StoredLink extends OpenedLink {
  /** Null for a sign-up. */
  readonly userId: UserId | null
  /** For a password reset, a value that changes with the password, so that a new password invalidates the link. */
  readonly mark: string
}

/** Creates and consumes links that prove the control of an e-mail address. Stores the digest of each link's token. */
export class UserLinks {
  readonly #context: RecordsContext
  readonly #values: TransientValues<StoredLink | null>

  constructor(context: RecordsContext) {
    this.#context = context
    this.#values = new TransientValues('user_link', context)
  }

  /**
   * Creates a link. A sign-up with the e-mail address of a user becomes a password reset. Known and unknown addresses
   * cause the same store operations, so that the response time does not reveal whether a user exists.
   * @returns undefined if the caller must not send a link: the user is inactive, the e-mail address to verify is
   * already verified, or no user exists and the purpose is not a sign-up
   * @throws InvalidField if the e-mail address is malformed
   */
  async create(
    purpose: UserLinkPurpose,
    typed: string,
    after: Pick<OpenedLink, 'next' | 'browser'>,
  ): Promise<CreatedLink | undefined> {
    const email = validEmail(typed)
    const link = await this.#linkTo(purpose, email, after)
    // Without a recipient, store null, so that the store operations are the same.
    const token = await this.#values.put(link, this.#context.clock() + linkLifetime * 1000, email)
    return link ? { purpose: link.purpose, email, token } : undefined
  }

  async #linkTo(
    purpose: UserLinkPurpose,
    email: string,
    after: Pick<OpenedLink, 'next' | 'browser'>,
  ): Promise<StoredLink | null> {
    const found = await userWithMark(email, this.#context)
    if (!found)
      return purpose === 'sign_up' ? { purpose, email, ...after, userId: null, mark: '' } : null
    const { id, active, emailVerified, mark } = found
    const isDone = purpose === 'verify_email' && emailVerified
    if (!active || isDone) return null
    const asked = purpose === 'sign_up' ? 'reset_password' : purpose
    return { purpose: asked, email, ...after, userId: id, mark }
  }

  /**
   * Returns the link of a token; undefined if the link is not valid. Does not consume the link, because mail scanners
   * open links.
   */
  open(token: string): Promise<OpenedLink | undefined> {
    return this.#valid(token)
  }

  async #valid(token: string): Promise<StoredLink | undefined> {
    const link = await this.#values.get(token)
    return link && isValid(link, await userWithMark(link.email, this.#context)) ? link : undefined
  }

  /** Returns the user of a valid link and the digest of its token; undefined if the link is not valid. */
  async find(
    token: string,
  ): Promise<{ userId: UserId | null; email: string; digest: Digest } | undefined> {
    const link = await this.#valid(token)
    return link && { userId: link.userId, email: link.email, digest: this.#values.digest(token) }
  }

  /** Whether a link with this digest is stored. */
  async has(digest: Digest): Promise<boolean> {
    return (await this.#values.getDigest(digest)) !== undefined
  }

  /** Invalidates the link with this digest. Returns false if the link does not exist. */
  async end(digest: Digest): Promise<boolean> {
    const exists = await this.has(digest)
    await this.#values.deleteDigest(digest)
    return exists
  }

  /**
   * Consumes a link: sets the password, verifies the e-mail address, or creates the account.
   * @param password ignored if the link only verifies an e-mail address
   * @returns undefined if the link is not valid, or was used concurrently
   * @throws InvalidField for a password that is too short or too long; PasswordHashingBusy if too many passwords wait.
   * After these errors, the link remains valid.
   */
  async use(token: string, password: string): Promise<OpenedLink | undefined> {
    const opened = await this.open(token)
    if (!opened) return undefined
    const { passwords, requester } = this.#context
    // Hash the password first, so that an invalid password or a full queue does not consume the link.
    const hash =
      opened.purpose === 'verify_email'
        ? ''
        : await passwords.hash(validPassword(password, 'new_password'), requester())
    const link = await this.#values.take(token)
    return link && (await this.#done(link, hash)) ? link : undefined
  }

  async #done({ purpose, email, userId, mark }: StoredLink, hash: string): Promise<boolean> {
    const proven = { email, active: true, emailVerified: true, isAdmin: false }
    if (purpose === 'sign_up')
      return (await insertUser(proven, hash, this.#context, byUser)) !== undefined
    if (userId === null) return false
    const user = { id: userId, email }
    // Record the user of the link as the actor, because nobody may be logged in.
    const context = { ...this.#context, audit: this.#context.audit.by(byUser(user)) }
    return purpose === 'verify_email'
      ? changeUser(userId, 'user.email_verified', { emailVerified: true }, context)
      : resetPassword(userId, mark, hash, context)
  }
}

const isValid = (
  { purpose, userId, mark }: StoredLink,
  user: (Pick<User, 'id' | 'active'> & { readonly mark: string }) | undefined,
): boolean => {
  if (purpose === 'sign_up') return user === undefined
  if (user?.id !== userId || !user.active) return false
  return purpose === 'verify_email' || user.mark === mark
}
