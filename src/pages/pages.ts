import type { PageTemplate } from './frame.ts'
import { problemPage } from './parts/problem.ts'
import { shownOncePage } from './parts/shown-once.ts'
import { activityPage } from './views/activity.ts'
import { adminPage } from './views/admin.ts'
import { adminActivityPage } from './views/admin-activity.ts'
import { adminApplicationPage } from './views/admin-application.ts'
import { adminApplicationsPage } from './views/admin-applications.ts'
import { adminTokensPage } from './views/admin-tokens.ts'
import { adminUserPage } from './views/admin-user.ts'
import { adminUsersPage } from './views/admin-users.ts'
import { applicationsPage } from './views/applications.ts'
import { authorizationPage } from './views/authorization.ts'
import { authorizedPage } from './views/authorized.ts'
import { clientPage, newClientPage } from './views/client.ts'
import { clientsPage } from './views/clients.ts'
import { consentPage } from './views/consent.ts'
import { deviceDonePage, devicePage } from './views/device.ts'
import { deviceConsentPage } from './views/device-consent.ts'
import { endSelectedPage } from './views/end-selected.ts'
import { errorPage } from './views/error.ts'
import { formPostPage } from './views/form-post.ts'
import { homePage } from './views/home.ts'
import { leakedPage } from './views/leaked.ts'
import { loggedOutPage } from './views/logged-out.ts'
import { loginPage } from './views/login.ts'
import { logoutPage } from './views/logout.ts'
import { openLinkPage } from './views/open-link.ts'
import { passwordPage } from './views/password.ts'
import { newPersonalTokenPage, personalTokenPage } from './views/personal-token.ts'
import { requestLinkPage } from './views/request-link.ts'
import { sessionsPage } from './views/sessions.ts'
import { personalTokensPage } from './views/tokens.ts'

/** The built-in pages by name. An application may replace each of them. */
export const builtInPages = {
  login: loginPage,
  requestLink: requestLinkPage,
  openLink: openLinkPage,
  consent: consentPage,
  formPost: formPostPage,
  logout: logoutPage,
  loggedOut: loggedOutPage,
  device: devicePage,
  deviceConsent: deviceConsentPage,
  deviceDone: deviceDonePage,
  error: errorPage,
  problem: problemPage,
  home: homePage,
  applications: applicationsPage,
  personalTokens: personalTokensPage,
  clients: clientsPage,
  authorized: authorizedPage,
  endSelected: endSelectedPage,
  newClient: newClientPage,
  client: clientPage,
  newPersonalToken: newPersonalTokenPage,
  personalToken: personalTokenPage,
  authorization: authorizationPage,
  sessions: sessionsPage,
  password: passwordPage,
  shownOnce: shownOncePage,
  activity: activityPage,
  leaked: leakedPage,
  admin: adminPage,
  adminApplications: adminApplicationsPage,
  adminApplication: adminApplicationPage,
  adminTokens: adminTokensPage,
  adminUsers: adminUsersPage,
  adminUser: adminUserPage,
  adminActivity: adminActivityPage,
} as const

/** The name of a page. */
export type PageName = keyof typeof builtInPages

/** The view of a page: its content without the frame. */
export type ViewOf<Name extends PageName> = Parameters<(typeof builtInPages)[Name]>[0]

/** All pages by name. Each page is the built-in page, or a page of the application that has the same type. */
export type Pages = { readonly [Name in PageName]: PageTemplate<ViewOf<Name>> }
