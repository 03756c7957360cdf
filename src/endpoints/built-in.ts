import type { Endpoint } from '../extension.ts'
import { authorizationEndpoint } from './authorize.ts'
import { errorsEndpoint } from './errors.ts'
import { liveEndpoint, readyEndpoint } from './health.ts'
import { infoEndpoint } from './info.ts'
import { openApiEndpoint } from './openapi.ts'
import { pageScriptEndpoint } from './page-script.ts'
import { pingEndpoint } from './ping.ts'
import { sessionScriptEndpoint } from './session-script.ts'
import { stylesheetEndpoint } from './stylesheet.ts'
import { tokenEndpoint } from './token.ts'

export const builtInEndpoints: readonly Endpoint[] = [
  authorizationEndpoint,
  tokenEndpoint,
  errorsEndpoint,
  pingEndpoint,
  infoEndpoint,
  sessionScriptEndpoint,
  stylesheetEndpoint,
  pageScriptEndpoint,
  openApiEndpoint,
  liveEndpoint,
  readyEndpoint,
]
