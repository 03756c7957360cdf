import type { IssuedToken } from '../../../model/token.ts'
import type { TokenIssue } from '../../plug-ins/extension.ts'
import type { ServerContext } from '../../server-context.ts'

/** Issues what a grant found, within what extensions restrict it to. Nothing is spent where one of them refuses. */
export const issueToken = async (
  issue: TokenIssue,
  server: ServerContext,
): Promise<IssuedToken> => {
  let { redemption } = issue
  for (const extension of server.extensions) {
    if (extension.onTokenIssue)
      redemption = await extension.onTokenIssue({ ...issue, redemption }, server)
  }
  // The authorization endpoint has no such parameter.
  const grant = issue.params.optional('grant_type') ?? 'implicit'
  return server.tokens.issue(redemption, grant)
}
