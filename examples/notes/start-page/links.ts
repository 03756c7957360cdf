import type { AuthorizationServer } from 'svc-oauth2server'

/** Returns the paths of the pages of the server and of the example. */
export const linksOf = ({ issuer, settings }: AuthorizationServer) => {
  const base = basePathOf(issuer)
  const { oauthPrefix, settingsPrefix, adminPrefix, loginPath, logoutPath, openapiPath } = settings
  const account = `${base}${settingsPrefix}`
  return {
    home: `${base}/`,
    login: `${base}${loginPath}`,
    logout: `${base}${logoutPath}`,
    applications: `${account}/applications/`,
    newClient: `${account}/applications/clients/new/`,
    newToken: `${account}/applications/tokens/new/`,
    sessions: `${account}/sessions/`,
    password: `${account}/password/`,
    activity: `${account}/activity/`,
    admin: `${base}${adminPrefix}/overview/`,
    adminActivity: `${base}${adminPrefix}/activity/`,
    device: settings.deviceAuthorization ? `${base}${oauthPrefix}/device` : null,
    openapi: `${base}${openapiPath}`,
    metadata: `/.well-known/oauth-authorization-server${base}`,
    resourceMetadata: `/.well-known/oauth-protected-resource${base}`,
    health: `${base}/health/ready`,
    pageStyle: `${base}${oauthPrefix}/style.css`,
    sessionScript: `${base}${oauthPrefix}/session.js`,
    style: `${base}/start-page.css`,
    script: `${base}/start-page.js`,
    addNote: `${base}/notes`,
    personalToken: `${base}/personal-token`,
    sample: `${base}/sample/`,
    startSample: `${base}/sample/start`,
  } as const
}

/** The paths that the pages of the example link to. */
export type Links = ReturnType<typeof linksOf>

/** Returns the path of the issuer without the slash at its end; empty for an issuer without a path. */
export const basePathOf = (issuer: string): string => new URL(issuer).pathname.replace(/\/$/, '')
