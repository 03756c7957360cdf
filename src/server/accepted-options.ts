import type { OutboundOptions } from '../http/outbound/outbound.ts'
import {
  type Accepted,
  accepted,
  anything,
  callback,
  flag,
  listOf,
  type Members,
  object,
  objectOf,
  oneOf,
  recordOf,
  required,
  text,
} from '../model/members.ts'
import type { ProtectedResource } from '../model/protected-resource.ts'
import { Scope } from '../model/scope.ts'
import { usersOption } from '../model/user-table.ts'
import { overrideProblems } from '../pages/messages/text-problems.ts'
import type { DeclaredNames } from '../protocol/extension-names.ts'
import type { Endpoint, Extension, Grant } from '../protocol/plug-ins.ts'
import type { Limit } from '../settings/limit-table.ts'
import type { SettingName } from '../settings/settings.ts'
import type { AuthorizationServerOptions } from './options.ts'

const opener = (functions: string): Accepted =>
  accepted(
    `the result of ${functions}`,
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      typeof Reflect.get(value, 'open') === 'function',
  )

/** The numbers of a limit. */
export const numbersOfLimit: Members<Pick<Limit, 'points' | 'seconds'>> = {
  points: required(anything),
  seconds: required(anything),
}

const parameterList: Accepted = {
  problems: (name, value) =>
    (object.fits(value) ? recordOf(object) : listOf(text)).problems(name, value),
}

const endpoint: Members<Endpoint> = {
  path: required(callback),
  wellKnown: callback,
  methods: required(listOf(oneOf('GET', 'POST', 'PUT', 'DELETE'))),
  cors: flag,
  errors: required(oneOf('json', 'page', 'challenge')),
  advertisedAs: text,
  describe: callback,
  handle: required(callback),
}

const grant: Members<Grant> = {
  type: required(text),
  isOn: callback,
  worksWithoutConsent: flag,
  parameters: required(parameterList),
  findClient: callback,
  response: object,
  lookUp: callback,
  actsForClient: flag,
  redeem: required(callback),
}

const declaredNames: Members<DeclaredNames> = {
  errors: recordOf(anything),
  limits: recordOf(objectOf(numbersOfLimit)),
  events: listOf(text),
  values: recordOf(object),
}

const extension: Members<Extension> = {
  name: required(text),
  isOn: callback,
  endpoints: listOf(objectOf(endpoint)),
  grants: listOf(objectOf(grant)),
  names: objectOf({
    extension: required(text),
    declared: required(objectOf(declaredNames)),
    limits: object,
    error: callback,
    values: callback,
    record: callback,
  }),
  authorizationParameters: parameterList,
  tokenParameters: parameterList,
  metadata: callback,
  resourceMetadata: callback,
  findClient: callback,
  onAuthorizationParameters: callback,
  onPushedRequest: callback,
  onRequestedScopes: callback,
  onAuthorizationRequest: callback,
  requiredLogin: callback,
  onAuthorizationGranted: callback,
  onAuthorizationIssued: callback,
  onAuthorizationResponse: callback,
  onTokenRequest: callback,
  onCodeRedemption: callback,
  onTokenIssue: callback,
  onTokenResponse: callback,
  responseHeaders: callback,
  onProtectedRequest: callback,
}

/** What each option accepts that is no setting. The table of the settings contains the others. */
export const acceptedOptions: Members<Omit<AuthorizationServerOptions, SettingName>> = {
  // `checkedOptions` checks these two, with the names of their variables.
  issuer: anything,
  secretKeys: anything,
  store: required(opener('sqlite() or postgres()')),
  transients: opener('redis()'),
  scopes: listOf(accepted('a Scope', (value) => value instanceof Scope)),
  applicationRoot: text,
  extensions: listOf(objectOf(extension)),
  views: recordOf(text),
  users: usersOption,
  resourceOwner: callback,
  pages: object,
  texts: { problems: overrideProblems },
  clock: callback,
  random: callback,
  outbound: objectOf<OutboundOptions>({ resolve: callback, certificateAuthorities: listOf(text) }),
  resources: listOf(
    objectOf<ProtectedResource>({
      // `checkedOptions` checks the identifier.
      resource: anything,
      name: text,
      scopes: listOf(text),
      introspectionClients: listOf(text),
      documentation: text,
    }),
  ),
  registerClient: callback,
  onLeaked: callback,
  sendUserLink: callback,
  claims: callback,
  log: callback,
  aroundStore: callback,
  getClient: callback,
  getToken: callback,
  getUser: callback,
  saveToken: callback,
}
