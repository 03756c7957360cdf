import { randomInt } from 'node:crypto'
import { type AuthorizationServer, InvalidField } from 'svc-oauth2server'
import type { Notes } from './notes.ts'
import { registerSample } from './sample-application/register.ts'
import type { Demo } from './start-page/routes.ts'

const email = 'demo@example.org'

/** The notes of the demo user after the first start. */
const firstNotes = ['Return the library books', 'Call the plumber', 'Book a table for Friday']

const newPassword = (): string => {
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789'
  const word = () => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('')
  return [word(), word(), word(), word()].join('-')
}

/** The credentials of the new demo user. */
interface Created {
  readonly password: string
  readonly accessToken: string
}

/** Prints instructions to try the example, with the credentials of the demo user if this start created the user. */
export const greet = ({ issuer }: AuthorizationServer, created: Created | undefined): void => {
  if (created) {
    console.log(`
A demo user was created. Its credentials are shown only once:

  e-mail                 ${email}
  password               ${created.password}
  personal access token  ${created.accessToken}

Try it:

  curl -H 'Authorization: Bearer ${created.accessToken}' ${issuer}/api/notes
`)
  }
  console.log(`Open ${issuer}/ and log in${created ? '' : ` (the first start showed the demo user's password; to set a new one: npx svc-oauth2server users set-password --user ${email})`}.
The authorization server's metadata: ${wellKnown(issuer)}
Stop with Ctrl-C. The next start uses the same data.`)
}

const wellKnown = (issuer: string): string => {
  const { origin, pathname } = new URL(issuer)
  return `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`
}

/** Creates the demo data at the first start, and finds the demo user at later starts. */
export const demoData = async (
  server: AuthorizationServer,
  notes: Notes,
): Promise<{ readonly created: Created | undefined; readonly demo: Demo | undefined }> => {
  const created = await createUser(server)
  const user = await server.users.findByEmail(email)
  if (!user) return { created, demo: undefined }
  if (created) for (const text of firstNotes) notes.add({ owner: String(user.id), text })
  const sampleClientId = await registerSample(server, user.id, server.issuer)
  return { created, demo: { email, sampleClientId } }
}

// One transaction creates the user, the token and the application. If two processes start concurrently, only one
// creates the user.
const createUser = async (server: AuthorizationServer): Promise<Created | undefined> => {
  if (await server.users.findByEmail(email)) return undefined
  const password = newPassword()
  try {
    return await server.transaction(async (tx) => {
      const user = await tx.users.create({ email, password, isAdmin: true })
      const scopes = ['notes:read', 'notes:write', 'user:email']
      const { accessToken } = await tx.tokens.createPersonal('Demo', user.id, { scopes })
      await registerSample(tx, user.id, server.issuer)
      return { password, accessToken }
    })
  } catch (error) {
    if (error instanceof InvalidField && error.field === 'email') return undefined
    throw error
  }
}
