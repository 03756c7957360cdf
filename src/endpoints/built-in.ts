import type { Endpoint } from '../extension.ts'
import { authorizationEndpoint } from './authorize.ts'
import { errorsEndpoint } from './errors.ts'
import { infoEndpoint } from './info.ts'
import { loginEndpoint } from './login.ts'
import { logoutEndpoint } from './logout.ts'
import { pingEndpoint } from './ping.ts'
import { stylesheetEndpoint } from './stylesheet.ts'
import { tokenEndpoint } from './token.ts'

export const builtInEndpoints: readonly Endpoint[] = [
  authorizationEndpoint,
  tokenEndpoint,
  errorsEndpoint,
  pingEndpoint,
  infoEndpoint,
  loginEndpoint,
  logoutEndpoint,
  stylesheetEndpoint,
]
