import { Auth } from '@auth/core'
import { getToken } from '@auth/core/jwt'
import { ExpressAuth, type ExpressAuthConfig } from '@auth/express'
import express from 'express'

const {
  ISSUER = '',
  CLIENT_ID = '',
  CLIENT_SECRET = '',
  AUTH_SECRET = '',
  PORT = '3001',
} = process.env
const url = `http://localhost:${PORT}`
const metadata = await (await fetch(`${ISSUER}/.well-known/openid-configuration`)).json()

const config: ExpressAuthConfig = {
  secret: AUTH_SECRET,
  trustHost: true,
  basePath: '/auth',
  providers: [
    {
      id: 'notes',
      name: 'Notes',
      type: 'oidc',
      issuer: ISSUER,
      // Fetch the name and the e-mail address from the userinfo endpoint, because the ID token does not contain them.
      idToken: false,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
    },
  ],
  callbacks: {
    // The encrypted session cookie contains the tokens.
    jwt: async ({ token, account }) => {
      if (account)
        return {
          ...token,
          sub: account.providerAccountId,
          idToken: account.id_token,
          refreshToken: account.refresh_token,
          expiresAt: account.expires_at,
        }
      return Date.now() < Number(token.expiresAt) * 1000 ? token : refreshed(token)
    },
    session: ({ session, token }) => ({ ...session, id: token.sub, expiresAt: token.expiresAt }),
    redirect: ({ url: target, baseUrl }) =>
      new URL(target, baseUrl).origin === baseUrl ||
      target.startsWith(metadata.end_session_endpoint)
        ? target
        : baseUrl,
  },
}

/**
 * Exchanges the refresh token. Returns null if the server refuses, for instance because the user logged out at the
 * server. Auth.js then ends the session.
 */
const refreshed = async <T extends Record<string, unknown>>(token: T): Promise<T | null> => {
  const answer = await fetch(metadata.token_endpoint, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: String(token.refreshToken),
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
    }),
  })
  if (!answer.ok) return null
  const { id_token, refresh_token, expires_in } = await answer.json()
  const expiresAt = Math.floor(Date.now() / 1000) + expires_in
  return { ...token, idToken: id_token, refreshToken: refresh_token, expiresAt }
}

const app = express()
app.use('/auth', ExpressAuth(config))

app.get('/', async (request, response) => {
  const headers = { cookie: request.headers.cookie ?? '' }
  // Auth.js refreshes expired tokens when it reads the session, and sets a new cookie.
  const answer = await Auth(new Request(`${url}/auth/session`, { headers }), config)
  for (const cookie of answer.headers.getSetCookie()) response.append('set-cookie', cookie)
  const session = await answer.json()
  const token = await getToken({ req: { headers }, secret: AUTH_SECRET })
  if (!session || !token) {
    response.send('<a href="/auth/signin">Log in</a>')
    return
  }
  const end = new URL(metadata.end_session_endpoint)
  end.searchParams.set('id_token_hint', String(token.idToken))
  end.searchParams.set('post_logout_redirect_uri', url)
  const logOut = `/auth/signout?callbackUrl=${encodeURIComponent(end.href)}`
  const name = escaped(String(session.user.email))
  response.send(`<p>Logged in as ${name}</p><a href="${logOut}">Log out</a>`)
})

/** Returns the text with its HTML characters escaped. */
const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

app.listen(Number(PORT), () => console.log(`Open ${url}`))
