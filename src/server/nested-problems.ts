import type { OutboundOptions } from '../http/outbound/outbound.ts'
import { type MemberNames, memberProblems } from '../model/members.ts'
import type { ProtectedResource } from '../model/protected-resource.ts'
import { callbackNames } from '../model/user-table.ts'
import type { DeclaredNames } from '../protocol/extension-names.ts'
import type { Endpoint, Extension, Grant } from '../protocol/plug-ins.ts'
import { type Limit, limitNames } from '../settings/limit-table.ts'
import type { AuthorizationServerOptions } from './options.ts'

const namesOf = <T>(names: MemberNames<T>): readonly string[] => Object.keys(names)

const outboundNames = namesOf<OutboundOptions>({ resolve: true, certificateAuthorities: true })
const resourceNames = namesOf<ProtectedResource>({
  resource: true,
  name: true,
  scopes: true,
  introspectionClients: true,
  documentation: true,
})
const limitMembers = namesOf<Pick<Limit, 'points' | 'seconds'>>({ points: true, seconds: true })
const declaredNames = namesOf<DeclaredNames>({
  errors: true,
  limits: true,
  events: true,
  values: true,
})
const extensionNames = namesOf<Extension>({
  name: true,
  isOn: true,
  endpoints: true,
  grants: true,
  names: true,
  authorizationParameters: true,
  tokenParameters: true,
  metadata: true,
  resourceMetadata: true,
  findClient: true,
  onAuthorizationParameters: true,
  onPushedRequest: true,
  onRequestedScopes: true,
  onAuthorizationRequest: true,
  requiredLogin: true,
  onAuthorizationGranted: true,
  onAuthorizationIssued: true,
  onAuthorizationResponse: true,
  onTokenRequest: true,
  onCodeRedemption: true,
  onTokenIssue: true,
  onTokenResponse: true,
  responseHeaders: true,
  onProtectedRequest: true,
})
const grantNames = namesOf<Grant>({
  type: true,
  isOn: true,
  worksWithoutConsent: true,
  parameters: true,
  findClient: true,
  response: true,
  lookUp: true,
  actsForClient: true,
  redeem: true,
})
const endpointNames = namesOf<Endpoint>({
  path: true,
  wellKnown: true,
  methods: true,
  cors: true,
  errors: true,
  advertisedAs: true,
  handle: true,
})

/** Returns a problem for each unknown member of the objects in the options of a server. */
export const nestedProblems = (options: AuthorizationServerOptions): readonly string[] => {
  const { outbound, resources = [], users, limits, extensions = [] } = options
  return [
    ...memberProblems('outbound', outboundNames, outbound),
    ...resources.flatMap((one) => memberProblems('resources', resourceNames, one)),
    ...usersProblems(users),
    ...limitsProblems(limits),
    ...extensions.flatMap((extension) => extensionMembers(extension)),
  ]
}

const usersProblems = (users: AuthorizationServerOptions['users']): readonly string[] => {
  if (users === undefined || 'name' in users) return []
  const unknown = memberProblems('users', callbackNames, users)
  return typeof users.find === 'function' || unknown.length > 0
    ? unknown
    : ['users: find must be a function, or users must be the result of table().']
}

// The schema of the setting refuses other values.
const limitsProblems = (limits: unknown): readonly string[] => {
  if (typeof limits !== 'object' || limits === null) return []
  return [
    ...memberProblems('limits', limitNames, limits),
    ...Object.entries(limits).flatMap(([name, numbers]) =>
      memberProblems(`limits.${name}`, limitMembers, numbers),
    ),
  ]
}

const extensionMembers = (extension: Extension): readonly string[] => {
  const { name, endpoints = [], grants = [], names } = extension
  const owner = `extensions: ${JSON.stringify(name)}`
  const { limits = {} } = names?.declared ?? {}
  return [
    ...memberProblems(owner, extensionNames, extension),
    ...endpoints.flatMap((one) => memberProblems(`${owner}: endpoints`, endpointNames, one)),
    ...grants.flatMap((one) => memberProblems(`${owner}: grants`, grantNames, one)),
    ...memberProblems(`${owner}: names`, declaredNames, names?.declared),
    ...Object.entries(limits).flatMap(([limit, numbers]) =>
      memberProblems(`${owner}: limits.${limit}`, limitMembers, numbers),
    ),
  ]
}
