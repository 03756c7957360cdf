import type { Endpoint } from '../plug-ins.ts'
import { clientLogoEndpoint } from './assets/client-logo.ts'
import { pageScriptEndpoint } from './assets/page-script.ts'
import { sessionScriptEndpoint } from './assets/session-script.ts'
import { stylesheetEndpoint } from './assets/stylesheet.ts'
import { authorizationEndpoint } from './authorization/authorize.ts'
import { liveEndpoint, readyEndpoint } from './operations/health.ts'
import { infoEndpoint } from './operations/info.ts'
import { openApiEndpoint } from './operations/openapi.ts'
import { pingEndpoint } from './operations/ping.ts'
import { errorsEndpoint } from './responses/errors.ts'
import { tokenEndpoint } from './token/token.ts'

export const builtInEndpoints: readonly Endpoint[] = [
  authorizationEndpoint,
  tokenEndpoint,
  errorsEndpoint,
  pingEndpoint,
  infoEndpoint,
  sessionScriptEndpoint,
  stylesheetEndpoint,
  pageScriptEndpoint,
  clientLogoEndpoint,
  liveEndpoint,
  readyEndpoint,
  openApiEndpoint,
]
