import { activityPage } from './activity.ts'
import { adminPage } from './admin.ts'
import { adminActivityPage } from './admin-activity.ts'
import { applicationsPage } from './applications.ts'
import { authorizationPage } from './authorization.ts'
import { clientPage, newClientPage } from './client.ts'
import { consentPage } from './consent.ts'
import { deviceDonePage, devicePage } from './device.ts'
import { deviceConsentPage } from './device-consent.ts'
import { errorPage } from './error.ts'
import type { Page } from './frame.ts'
import { homePage } from './home.ts'
import { loginPage } from './login.ts'
import { newPersonalTokenPage, personalTokenPage } from './personal-token.ts'
import { problemPage } from './problem.ts'
import { sessionsPage } from './sessions.ts'
import { shownOncePage } from './shown-once.ts'

/** Every page, by the name under which a host may replace it. */
export const builtInPages = {
  login: loginPage,
  consent: consentPage,
  device: devicePage,
  deviceConsent: deviceConsentPage,
  deviceDone: deviceDonePage,
  error: errorPage,
  problem: problemPage,
  home: homePage,
  applications: applicationsPage,
  newClient: newClientPage,
  client: clientPage,
  newPersonalToken: newPersonalTokenPage,
  personalToken: personalTokenPage,
  authorization: authorizationPage,
  sessions: sessionsPage,
  shownOnce: shownOncePage,
  activity: activityPage,
  admin: adminPage,
  adminActivity: adminActivityPage,
} as const

/** The name of a page. */
export type PageName = keyof typeof builtInPages

/** What a page shows, besides its frame. */
export type ViewOf<Name extends PageName> = Parameters<(typeof builtInPages)[Name]>[0]

/** A page for each name: ours, or the host's of the same type. */
export type Pages = { readonly [Name in PageName]: Page<ViewOf<Name>> }
