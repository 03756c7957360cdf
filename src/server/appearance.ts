import type { Brand, FrameLinks } from '../pages/frame.ts'
import { builtInPages, type Pages } from '../pages/pages.ts'
import { InvalidSettings } from '../settings/invalid-settings.ts'
import type { Settings } from '../settings/settings.ts'
import type { AuthorizationServerOptions } from './options.ts'

/** Returns the name and logo of the application. The default name is the host of the issuer. */
export const brandOf = ({ applicationName, logo }: Settings, issuer: string): Brand => ({
  name: applicationName ?? new URL(issuer).host,
  logo,
})

/** Returns the URLs of the links, the stylesheet and the script of every page. */
export const linksOf = (
  settings: Settings,
  basePath: string,
  { resourceOwner, users, sendUserLink }: AuthorizationServerOptions,
): FrameLinks => {
  return {
    stylesheet: `${basePath}${settings.oauthPrefix}/style.css`,
    script: `${basePath}${settings.oauthPrefix}/page.js`,
    home: `${basePath}/`,
    applications: `${basePath}${settings.settingsPrefix}/applications/`,
    tokens: `${basePath}${settings.settingsPrefix}/applications/tokens/`,
    clients: `${basePath}${settings.settingsPrefix}/applications/clients/`,
    authorized: `${basePath}${settings.settingsPrefix}/applications/authorized/`,
    sessions: resourceOwner ? null : `${basePath}${settings.settingsPrefix}/sessions/`,
    password: resourceOwner || users ? null : `${basePath}${settings.settingsPrefix}/password/`,
    activity: `${basePath}${settings.settingsPrefix}/activity/`,
    leaked: `${basePath}${settings.settingsPrefix}/leaked/`,
    admin: `${basePath}${settings.adminPrefix}/overview/`,
    adminApplications: `${basePath}${settings.adminPrefix}/applications/`,
    adminTokens: `${basePath}${settings.adminPrefix}/tokens/`,
    adminUsers: `${basePath}${settings.adminPrefix}/users/`,
    adminActivity: `${basePath}${settings.adminPrefix}/activity/`,
    login: settings.loginUrl ?? `${basePath}${settings.loginPath}`,
    forgotPassword: sendUserLink ? `${basePath}${settings.loginPath}/forgot-password` : null,
    signUp: sendUserLink && settings.signUp ? `${basePath}${settings.loginPath}/sign-up` : null,
    verifyEmail: sendUserLink ? `${basePath}${settings.settingsPrefix}/verify-email/` : null,
    logout: resourceOwner ? null : `${basePath}${settings.logoutPath}`,
    hostLogout: resourceOwner ? settings.logoutUrl : null,
  }
}

/**
 * Returns all pages. A page of the application replaces the built-in page of the same name.
 * @throws InvalidSettings for an unknown page name, or a value that is not a function
 */
export const pagesOf = (own: Partial<Pages> = {}): Pages => {
  const replaced = Object.entries(own).filter(([, page]) => page !== undefined)
  const names = Object.keys(builtInPages).join(', ')
  const problems = replaced.flatMap(([name, page]) => {
    if (!Object.hasOwn(builtInPages, name))
      return `pages accepts functions named ${names}; the given name is ${JSON.stringify(name)}.`
    return typeof page === 'function' ? [] : `pages.${name} must be a function.`
  })
  if (problems.length > 0) throw new InvalidSettings(problems)
  return { ...builtInPages, ...Object.fromEntries(replaced) }
}
