/** The purposes of links. */
export const userLinkPurposes = ['reset_password', 'verify_email', 'sign_up'] as const

/**
 * The purpose of a link:
 * - `reset_password`: the user sets a new password.
 * - `verify_email`: the user confirms the e-mail address.
 * - `sign_up`: a visitor creates an account.
 */
export type UserLinkPurpose = (typeof userLinkPurposes)[number]

/** A link that the application sends by e-mail. The link works once. */
export interface UserLink {
  readonly purpose: UserLinkPurpose
  /** The recipient. */
  readonly email: string
  /** The link, which contains a secret: do not log it. */
  readonly url: string
  /** Seconds for which the link is valid. */
  readonly expiresIn: number
  /** The language of the page on which the link was requested, such as `en`. */
  readonly language: string
}

/**
 * Sends a link by e-mail. The server does not wait for the result, so that the response time does not reveal
 * whether an account exists. A failure is logged as `user_link.failed`.
 */
export type SendUserLink = (link: UserLink) => void | Promise<void>
