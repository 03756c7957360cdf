import { z } from 'zod'
import * as activity from '../../pages/shapes/activity.ts'
import * as administration from '../../pages/shapes/administration.ts'
import * as applications from '../../pages/shapes/applications.ts'
import * as clients from '../../pages/shapes/clients.ts'
import * as leaked from '../../pages/shapes/leaked.ts'
import * as password from '../../pages/shapes/password.ts'
import * as tokens from '../../pages/shapes/personal-tokens.ts'
import * as sessions from '../../pages/shapes/sessions.ts'
import * as users from '../../pages/shapes/users.ts'
import type { Described } from '../../protocol/openapi/described.ts'
import { extensionPaths } from '../../protocol/openapi/paths/extensions.ts'
import { healthPaths } from '../../protocol/openapi/paths/health.ts'
import { protocolPaths } from '../../protocol/openapi/paths/protocol.ts'
import { sharedResponses } from '../../protocol/openapi/responses.ts'
import type { Part } from '../../protocol/openapi/schema.ts'
import * as errors from '../../protocol/openapi/schemas/errors.ts'
import { metadataShapes } from '../../protocol/openapi/schemas/metadata.ts'
import * as protocol from '../../protocol/openapi/schemas/protocol.ts'
import { tokenRequest } from '../../protocol/openapi/schemas/requests.ts'
import { securitySchemes } from '../../protocol/openapi/security.ts'
import { componentsOf } from '../../protocol/openapi/shape.ts'
import { activityPaths } from './paths/activity.ts'
import { administrationPaths } from './paths/administration.ts'
import { clientPaths } from './paths/clients.ts'
import { leakedPaths } from './paths/leaked.ts'
import { passwordPaths } from './paths/password.ts'
import { sessionPaths } from './paths/sessions.ts'
import { tokenPaths } from './paths/tokens.ts'

/** Builds the OpenAPI 3.1 document of a server. */
export const openApiDocument = (server: Described): Part => ({
  openapi: '3.1.0',
  info: { title: 'Authorization server', version: '1', description: introduction },
  servers: [{ url: server.issuer }],
  tags: [
    {
      name: 'settings',
      description: 'The settings pages, for scripts with the session of a user.',
    },
    { name: 'protocol', description: 'The OAuth 2.0 endpoints.' },
    { name: 'metadata', description: 'Public metadata.' },
  ],
  paths: {
    ...clientPaths(server),
    ...tokenPaths(server),
    ...sessionPaths(server),
    ...passwordPaths(server),
    ...activityPaths(server),
    ...leakedPaths(server),
    ...administrationPaths(server),
    ...protocolPaths(server),
    ...extensionPaths(server),
    ...healthPaths(),
  },
  components: {
    securitySchemes: securitySchemes(server),
    responses: sharedResponses,
    schemas: componentsOf(shapesOf(server)),
  },
})

const shapesOf = (server: Described): Readonly<Record<string, z.ZodType>> => ({
  Scope: clients.scope,
  ClientChoices: clients.clientChoices,
  Client: clients.client,
  ClientWithSecret: clients.clientWithSecret,
  NewClient: clientFormOf(clients.newClient, server),
  ClientChange: clientFormOf(clients.clientChange, server),
  Overlap: clients.overlapForm,
  PersonalTokenChoices: tokens.personalTokenChoices,
  PersonalToken: tokens.personalToken,
  PersonalTokenWithValue: tokens.personalTokenWithValue,
  NewPersonalToken: newPersonalTokenOf(server),
  PersonalTokenChange: tokens.personalTokenChange,
  Applications: applications.applications,
  AuthorizedApplication: applications.authorizedApplication,
  Device: applications.device,
  PersonalTokens: applications.personalTokens,
  Clients: applications.clients,
  AuthorizedApplications: applications.authorizedApplications,
  Selected: applications.selected,
  Selection: applications.selection,
  Deleted: applications.deleted,
  Undo: applications.undo,
  Done: applications.done,
  ...(server.sessionCookie !== null && {
    Sessions: sessions.sessions,
    Session: sessions.session,
    SessionEnd: sessions.sessionEnd,
  }),
  ...(server.hasPasswords && {
    PasswordRules: password.passwordRules,
    PasswordChange: password.passwordChange,
  }),
  Activity: activity.activity,
  OwnEvent: activity.ownEvent,
  Events: activity.events,
  ActivityForm: activity.activityForm,
  Event: activity.adminEvent,
  Leaked: leaked.leaked,
  LeakedCredential: leaked.leakedCredential,
  LeakedForm: leaked.leakedForm,
  Administration: administration.administration,
  AdminClient: administration.adminClient,
  AdminToken: administration.adminToken,
  AdminTokens: administration.adminTokens,
  AdministrationOverview: administration.overview,
  AdministrationForm: administration.administrationForm,
  AdminClientForm: administration.clientForm,
  AdminTokenForm: administration.tokenForm,
  User: users.user,
  Users: users.users,
  UserDetails: users.userDetails,
  UserForm: users.userForm,
  UserSearch: users.userSearch,
  TokenRequest: tokenRequest(server),
  TokenResponse: protocol.tokenResponse,
  Pong: protocol.pong,
  TokenHolder: protocol.tokenHolder,
  ...metadataShapes(server),
  ...(server.settings.dynamicRegistration !== 'off' && {
    RegisteredClient: protocol.registeredClient,
  }),
  Problem: errors.problem,
  FieldProblem: errors.fieldProblem,
  JwtProblem: errors.jwtProblem,
  Unauthenticated: errors.unauthenticated,
})

/** Returns the form of a new token for the document: `expires` cannot be null if the server limits the lifetime. */
const newPersonalTokenOf = ({ settings }: Pick<Described, 'settings'>) =>
  settings.tokenPersonalMaxExpiresIn === 0
    ? tokens.newPersonalToken
    : tokens.newPersonalToken.extend({ expires: tokens.expires.optional() })

/** Returns the form of a client for the document. Without OpenID Connect, the server ignores the logout fields. */
const clientFormOf = <Form extends typeof clients.newClient | typeof clients.clientChange>(
  form: Form,
  { settings }: Pick<Described, 'settings'>,
): z.ZodType => {
  const { post_logout_redirect_uris, backchannel_logout_uri, ...others } = form.shape
  return settings.openidConnect ? form : z.looseObject(others).describe(form.description ?? '')
}

const introduction = `The settings endpoints return JSON if \`Accept\` contains \`application/json\` with a higher
weight than HTML. Otherwise they return an HTML page or a redirect, for instance to the login if no user is logged in.
A page requires only the session cookie. JSON also requires the JWT of the session.

A settings endpoint that returns JSON accepts JSON, or a form with the same field names. A form repeats a field to
send a list. Unknown fields are ignored. A method that an endpoint does not support is refused with 405 and the header \`Allow\`.`
