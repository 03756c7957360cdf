const { UserManager } = globalThis.oidc
const { issuer, clientId } = await (await fetch('/settings.json')).json()
const manager = new UserManager({
  authority: issuer,
  client_id: clientId,
  redirect_uri: `${location.origin}/`,
  post_logout_redirect_uri: `${location.origin}/`,
  scope: 'openid profile email',
  loadUserInfo: true,
})

/** Shows the user and the usable buttons. */
const show = (user) => {
  document.querySelector('#status').textContent = user
    ? `Logged in as ${user.profile.email}`
    : 'Not logged in'
  document.querySelector('#log-in').hidden = user !== null
  document.querySelector('#refresh').hidden = user === null
  document.querySelector('#log-out').hidden = user === null
}

document.querySelector('#log-in').onclick = () => manager.signinRedirect()
// The library also refreshes the tokens automatically, a minute before the access token expires.
document.querySelector('#refresh').onclick = async () => {
  // Fails if the user logged out at the server or revoked the application.
  await manager.signinSilent().catch(() => manager.removeUser())
  show(await manager.getUser())
}
document.querySelector('#log-out').onclick = () => manager.signoutRedirect()

const parameters = new URLSearchParams(location.search)
if (parameters.has('code') || parameters.has('error')) {
  // Fails if the user did not consent.
  await manager.signinCallback().catch(console.warn)
  history.replaceState(null, '', '/')
}
show(await manager.getUser())
