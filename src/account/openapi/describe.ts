import type { Operations } from '../../protocol/plug-ins/operation.ts'
import type { ServerContext } from '../../protocol/server-context.ts'
import type { Settings } from '../../settings/settings.ts'
import { activityPaths } from './paths/activity.ts'
import { administrationPaths } from './paths/administration.ts'
import { clientPaths } from './paths/clients.ts'
import { leakedPaths } from './paths/leaked.ts'
import { passwordPaths } from './paths/password.ts'
import { sessionPaths } from './paths/sessions.ts'
import { tokenPaths } from './paths/tokens.ts'

/** Returns the operations of the page with this path. */
export const operationsAt =
  (path: (settings: Settings) => string) =>
  (server: ServerContext): Operations =>
    ({
      ...clientPaths(server),
      ...tokenPaths(server),
      ...sessionPaths(server),
      ...passwordPaths(server),
      ...activityPaths(server),
      ...leakedPaths(server),
      ...administrationPaths(server),
    })[path(server.settings).replaceAll(/:(\w+)/g, '{$1}')] ?? {}
