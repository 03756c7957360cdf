import type { Endpoint } from '../protocol/plug-ins.ts'
import { activityPage } from './activity.ts'
import { adminPage } from './admin.ts'
import { adminActivityPage } from './admin-activity.ts'
import { adminApplicationPage } from './admin-application.ts'
import { adminApplicationsPage } from './admin-applications.ts'
import { adminTokensPage } from './admin-tokens.ts'
import { adminUserPage } from './admin-user.ts'
import { adminUsersPage } from './admin-users.ts'
import { applicationsPage } from './applications.ts'
import {
  authorizationPage,
  revokeAllPage,
  revokeApplicationPage,
  revokeTokenPage,
} from './authorization.ts'
import { authorizedPage } from './authorized.ts'
import { clientPage } from './client.ts'
import { clientsPage } from './clients.ts'
import { activityExport, adminActivityExport } from './export-activity.ts'
import { leakedPage } from './leaked/leaked.ts'
import { newClientPage } from './new-client.ts'
import { newPersonalTokenPage } from './new-personal-token.ts'
import { personalTokenPage } from './personal-token.ts'
import { personalTokensPage } from './personal-tokens.ts'
import { resetClientSecretPage } from './reset-client-secret.ts'
import { rotatePersonalTokenPage } from './rotate-personal-token.ts'
import { selectedApplicationsPage, selectedTokensPage } from './selected.ts'
import { settingsHome } from './settings-home.ts'
import { undoPage } from './undo.ts'

/** The endpoints of the account application of every server: the settings pages. The pages for sessions, passwords and e-mail addresses depend on the options. */
export const accountEndpoints: readonly Endpoint[] = [
  settingsHome,
  applicationsPage,
  personalTokensPage,
  clientsPage,
  authorizedPage,
  selectedTokensPage,
  selectedApplicationsPage,
  undoPage,
  newClientPage,
  clientPage,
  resetClientSecretPage,
  newPersonalTokenPage,
  personalTokenPage,
  rotatePersonalTokenPage,
  authorizationPage,
  revokeTokenPage,
  revokeApplicationPage,
  revokeAllPage,
  activityPage,
  activityExport,
  leakedPage,
  adminPage,
  adminApplicationsPage,
  adminApplicationPage,
  adminTokensPage,
  adminUsersPage,
  adminUserPage,
  adminActivityPage,
  adminActivityExport,
]
