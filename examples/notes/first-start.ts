import { randomInt } from 'node:crypto'
import { type AuthorizationServer, InvalidField } from 'svc-oauth2server'

const email = 'demo@example.org'

const newPassword = (): string => {
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789'
  const word = () => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('')
  return [word(), word(), word(), word()].join('-')
}

/**
 * Prints instructions to try the example. At the first start, also creates a demo user with a personal access token.
 */
export const greet = async (server: AuthorizationServer): Promise<void> => {
  const { issuer } = server
  const demo = await demoUser(server)
  if (demo) {
    console.log(`
A demo user was made. This is shown once:

  e-mail                 ${email}
  password               ${demo.password}
  personal access token  ${demo.accessToken}

Try it:

  curl -H 'Authorization: Bearer ${demo.accessToken}' ${issuer}/api/notes
`)
  }
  console.log(`Open ${issuer}/ and log in${demo ? '' : ` (the demo user's password was shown at the first start; a new one: npx svc-oauth2server users set-password --user ${email})`}.
The authorization server's metadata: ${wellKnown(issuer)}
Stop with Ctrl-C. Everything is kept for the next start.`)
}

const wellKnown = (issuer: string): string => {
  const { origin, pathname } = new URL(issuer)
  return `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`
}

// One transaction creates the user and the token. If two processes start concurrently, only one creates the user.
const demoUser = async (
  server: AuthorizationServer,
): Promise<{ password: string; accessToken: string } | undefined> => {
  if (await server.users.findByEmail(email)) return undefined
  const password = newPassword()
  try {
    return await server.transaction(async (tx) => {
      const user = await tx.users.create({ email, password })
      const scopes = ['notes:read', 'notes:write', 'user:email']
      const { accessToken } = await tx.tokens.createPersonal('Demo', user.id, { scopes })
      return { password, accessToken }
    })
  } catch (error) {
    if (error instanceof InvalidField && error.field === 'email') return undefined
    throw error
  }
}
