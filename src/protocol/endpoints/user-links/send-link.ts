import type { HttpRequest } from '../../../http/request.ts'
import { accountKey } from '../../../model/email-address.ts'
import type { UserLink, UserLinkPurpose } from '../../../model/user-link.ts'
import { linkLifetime } from '../../../records/users/user-links.ts'
import type { ServerContext } from '../../server-context.ts'

/** The request of a visitor for a link by e-mail. */
interface RequestedLink {
  readonly purpose: UserLinkPurpose
  readonly email: string
  /** The path to open after the login. */
  readonly next: string
  /** The CSRF token of the browser that requests the link. */
  readonly browser: string | undefined
  readonly language: string
}

/**
 * Creates a link, which the application sends to the user. Does not reveal whether an account exists.
 * @throws OAuthError 429 with `Retry-After` after too many requests; InvalidField if the e-mail address is malformed
 */
export const sendLink = async (
  { purpose, email, next, browser, language }: RequestedLink,
  { address }: Pick<HttpRequest, 'address'>,
  server: ServerContext,
): Promise<void> => {
  await server.limits.consume('userLinksOfAddress', address)
  await server.limits.consume('userLinks', '', `link ${accountKey(email)}`)
  const link = await server.userLinks.create(purpose, email, { next, browser })
  if (!link) return
  const url = `${server.issuer}${openLinkPath(server.settings)}?token=${link.token}`
  const { purpose: allowed, email: recipient } = link
  send({ purpose: allowed, email: recipient, url, expiresIn: linkLifetime, language }, server)
}

/** Returns the path of the page that the links in e-mails open. */
export const openLinkPath = ({ loginPath }: { readonly loginPath: string }): string =>
  `${loginPath}/link`

const send = (link: UserLink, { hostHooks, log }: ServerContext): void => {
  Promise.resolve()
    .then(() => hostHooks.sendUserLink?.(link))
    .catch((error: unknown) =>
      log({
        level: 'error',
        event: 'user_link.failed',
        message: 'sendUserLink failed: the user did not receive a link.',
        purpose: link.purpose,
        error,
      }),
    )
}
