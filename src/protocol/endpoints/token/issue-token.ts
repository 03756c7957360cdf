import { OAuthError } from '../../../model/oauth-error.ts'
import { ScopeDoesNotExists } from '../../../model/scope.ts'
import type { IssuedToken } from '../../../model/token.ts'
import type { TokenIssue } from '../../plug-ins/extension.ts'
import type { ServerContext } from '../../server-context.ts'

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
