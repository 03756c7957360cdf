import { accountEndpoints } from '../account/built-in.ts'
import { passwordPage } from '../account/password.ts'
import { sessionsPage } from '../account/sessions.ts'
import { verifyEmailPage } from '../account/verify-email.ts'
import { builtInClientAuthentication } from '../protocol/client-authentication/built-in.ts'
import { builtInEndpoints } from '../protocol/endpoints/built-in.ts'
import { loginEndpoint } from '../protocol/endpoints/login/login.ts'
import { logoutEndpoint } from '../protocol/endpoints/login/logout.ts'
import { metricsEndpoint } from '../protocol/endpoints/operations/metrics.ts'
import { openLinkEndpoint } from '../protocol/endpoints/user-links/open-link.ts'
import {
  forgotPasswordEndpoint,
  signUpEndpoint,
} from '../protocol/endpoints/user-links/request-link.ts'
import { builtInExtensions } from '../protocol/extensions/built-in.ts'
import { builtInGrants } from '../protocol/grants/built-in.ts'
import type { PlugIns } from '../protocol/server-context.ts'
import { InvalidSettings } from '../settings/invalid-settings.ts'
import { addressProblems } from './extension-problems.ts'
import type { Prepared } from './prepare.ts'

/** The checked options, with the enabled plug-ins. */
export type Planned = Prepared & { readonly plugIns: PlugIns }

/**
 * Selects the plug-ins that the settings enable: built-in plug-ins, and plug-ins of the application.
 * @throws InvalidSettings for two endpoints at one path, or an invalid path
 */
export const selectPlugIns = ({ options, settings, prometheus }: Prepared): PlugIns => {
  const extensions = [...builtInExtensions, ...(options.extensions ?? [])].filter(
    ({ isOn }) => isOn?.(settings) ?? true,
  )
  const knownGrants = [...builtInGrants, ...extensions.flatMap(({ grants = [] }) => grants)]
  // An application that replaces the login also manages its own sessions, so the session endpoints are omitted.
  const sessionEndpoints = options.resourceOwner
    ? []
    : [loginEndpoint, logoutEndpoint, sessionsPage, ...(options.users ? [] : [passwordPage])]
  const linkEndpoints = options.sendUserLink
    ? [
        openLinkEndpoint,
        forgotPasswordEndpoint,
        verifyEmailPage,
        ...(settings.signUp ? [signUpEndpoint] : []),
      ]
    : []
  const endpoints = [
    ...builtInEndpoints,
    ...sessionEndpoints,
    ...linkEndpoints,
    ...accountEndpoints,
    ...(prometheus ? [metricsEndpoint(prometheus.scrape)] : []),
    ...extensions.flatMap(({ endpoints = [] }) => endpoints),
  ]
  const problems = addressProblems(endpoints, settings)
  if (problems.length > 0) throw new InvalidSettings(problems)
  return {
    extensions,
    grants: knownGrants.filter(({ isOn }) => isOn?.(settings) ?? true),
    knownGrants,
    clientAuthentication: builtInClientAuthentication(settings).filter(({ name }) =>
      settings.clientAuthentication.includes(name),
    ),
    endpoints,
  }
}
