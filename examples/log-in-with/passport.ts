import express from 'express'
import session from 'express-session'
import passport from 'passport'
import OpenIDConnectStrategy from 'passport-openidconnect'

const {
  ISSUER = '',
  CLIENT_ID = '',
  CLIENT_SECRET = '',
  SESSION_SECRET = '',
  PORT = '3002',
} = process.env
const url = `http://localhost:${PORT}`
const metadata = await (await fetch(`${ISSUER}/.well-known/openid-configuration`)).json()

/** The data about the logged-in user that the session stores. */
interface Account {
  readonly sub: string
  readonly email: string
  readonly idToken: string
  readonly refreshToken: string
}

passport.use(
  new OpenIDConnectStrategy(
    {
      issuer: ISSUER,
      authorizationURL: metadata.authorization_endpoint,
      tokenURL: metadata.token_endpoint,
      userInfoURL: metadata.userinfo_endpoint,
      clientID: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      callbackURL: `${url}/callback`,
      scope: ['profile', 'email'],
      nonce: 'random',
      skipUserProfile: false,
    },
    (
      _issuer: string,
      profile: OpenIDConnectStrategy.Profile,
      _context: object,
      idToken: string | object,
      _accessToken: string | object,
      refreshToken: string,
      done: OpenIDConnectStrategy.VerifyCallback,
    ) => {
      const email = profile.emails?.[0]?.value ?? ''
      const account: Account = { sub: profile.id, email, idToken: String(idToken), refreshToken }
      done(null, account)
    },
  ),
)
passport.serializeUser((user, done) => done(null, user))
passport.deserializeUser((user: Express.User, done) => done(null, user))

const app = express()
app.use(session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false }))
app.use(passport.session())

app.get('/', (request, response) => {
  const user = request.user as Account | undefined
  response.send(
    user
      ? `<p>Logged in as ${escaped(user.email)}</p><form method="post" action="/refresh"><button>Refresh</button></form><form method="post" action="/logout"><button>Log out</button></form>`
      : '<a href="/login">Log in</a>',
  )
})

/** Returns the text with its HTML characters escaped. */
const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

app.get('/login', passport.authenticate('openidconnect'))
app.get(
  '/callback',
  passport.authenticate('openidconnect', { successRedirect: '/', failureRedirect: '/' }),
)

// Passport does not refresh tokens, so this route sends the token request.
app.post('/refresh', async (request, response) => {
  const user = request.user as Account | undefined
  if (!user) {
    response.redirect('/')
    return
  }
  const answer = await fetch(metadata.token_endpoint, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: user.refreshToken,
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
    }),
  })
  const { id_token, refresh_token } = await answer.json()
  const renewed: Account = { ...user, idToken: id_token, refreshToken: refresh_token }
  // The server refuses if the user logged out at the server or revoked the application.
  if (answer.ok) request.login(renewed, () => response.redirect('/'))
  else request.logout(() => response.redirect('/'))
})

app.post('/logout', (request, response) => {
  const user = request.user as Account | undefined
  const end = new URL(metadata.end_session_endpoint)
  if (user) end.searchParams.set('id_token_hint', user.idToken)
  end.searchParams.set('post_logout_redirect_uri', url)
  request.logout(() => response.redirect(end.href))
})

app.listen(Number(PORT), () => console.log(`Open ${url}`))
