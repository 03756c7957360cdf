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
const found = await (await fetch(`${ISSUER}/.well-known/openid-configuration`)).json()

/** What the session keeps about the logged-in user. */
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
      authorizationURL: found.authorization_endpoint,
      tokenURL: found.token_endpoint,
      userInfoURL: found.userinfo_endpoint,
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

// passport does not refresh tokens, so the application does.
app.post('/refresh', async (request, response) => {
  const user = request.user as Account | undefined
  if (!user) {
    response.redirect('/')
    return
  }
  const answer = await fetch(found.token_endpoint, {
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
  // The server ended the access: the user logged out there, or removed the application.
  if (answer.ok) request.login(renewed, () => response.redirect('/'))
  else request.logout(() => response.redirect('/'))
})

app.post('/logout', (request, response) => {
  const user = request.user as Account | undefined
  const end = new URL(found.end_session_endpoint)
  if (user) end.searchParams.set('id_token_hint', user.idToken)
  end.searchParams.set('post_logout_redirect_uri', url)
  request.logout(() => response.redirect(end.href))
})

app.listen(Number(PORT), () => console.log(`Open ${url}`))
