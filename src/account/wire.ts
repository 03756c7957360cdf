import { auditToWire, ownAuditToWire } from '../model/audit-wire.ts'
import type { Client } from '../model/client.ts'
import { editedMetadata } from '../model/client-metadata.ts'
import type { StoredSession } from '../model/entities/session.ts'
import { isoTimeOrNull } from '../model/iso-time.ts'
import type { Scope, ScopeRegistry } from '../model/scope.ts'
import type { User } from '../model/user.ts'
import { deviceName } from '../pages/parts/device-name.ts'
import type { Arranged } from '../pages/parts/lists.ts'
import { scopeTexts } from '../pages/parts/scopes.ts'
import { adminClient, adminToken } from '../pages/shapes/administration.ts'
import {
  application as applicationShape,
  type arrangement,
  type authorizedApplication,
  device as deviceShape,
} from '../pages/shapes/applications.ts'
import { client as clientShape, type scope as scopeShape } from '../pages/shapes/clients.ts'
import type { leakedCredential } from '../pages/shapes/leaked.ts'
import { personalToken } from '../pages/shapes/personal-tokens.ts'
import { session as sessionShape } from '../pages/shapes/sessions.ts'
import type { Json } from '../pages/shapes/shape.ts'
import type { user as userShape } from '../pages/shapes/users.ts'
import { logoUrlOf } from '../protocol/endpoints/assets/client-logo.ts'
import type { ServerContext } from '../protocol/server-context.ts'
import type { AuthorizedApplication, Device } from '../records/authorized-applications.ts'
import type { ListedClient } from '../records/clients/client-input.ts'
import { identityDigest } from '../records/clients/verified-identity.ts'
import type { ManagedToken } from '../records/tokens/personal-tokens.ts'
import type { TokenSummary, TokenWithNames } from '../store/contract/tokens.ts'
import type { LeakFacts } from './leaked/facts.ts'
import type { SettingsRequest } from './settings-request.ts'
import { toJson } from './to-json.ts'

// These functions convert records to JSON values. Their return types are derived from the schemas of the OpenAPI
// document, so the compiler reports a value that does not match its schema.

/** Converts a scope, with its texts in the user's language. */
export const scopeToWire = (
  scope: Scope,
  reading: Pick<SettingsRequest, 'reader' | 'texts'>,
): Json<typeof scopeShape> => {
  const { helpText, group } = scopeTexts(scope, reading)
  return { id: scope.id, help_text: helpText, group }
}

/** Converts a client for its owner, without the secret and internal scopes. */
export const clientToWire = (
  client: Client,
  users: number,
  server: Pick<ServerContext, 'scopes' | 'settings'>,
): Json<typeof clientShape> => toJson(clientShape, clientSource(client, users, server))

const clientSource = (
  client: Client,
  users: number,
  { scopes, settings }: Pick<ServerContext, 'scopes' | 'settings'>,
) => {
  const edited = editedMetadata(client)
  const hasLogout = settings.openidConnect
  return {
    ...client,
    clientType: client.clientType,
    logoUri: edited.logo_uri,
    defaultScopes: scopes.visible(client.defaultScopes),
    optionalScopes: scopes.visible(client.optionalScopes),
    users,
    clientSecretLeakedAt: client.secretLeakedAt,
    postLogoutRedirectUris: hasLogout ? edited.post_logout_redirect_uris : undefined,
    backchannelLogoutUri: hasLogout ? edited.backchannel_logout_uri : undefined,
  }
}

/** Converts a personal token, without its value. */
export const personalTokenToWire = (managed: ManagedToken): Json<typeof personalToken> => {
  const { token, usedScopes, lastUse } = managed
  const scopes = token.getVisibleScopes()
  return toJson(personalToken, {
    ...managed,
    id: token.id,
    scopes,
    expires: token.expires,
    createdAt: token.createdAt,
    usedScopes: scopes.filter((scope) => usedScopes.includes(scope)),
    ...lastUseOf(lastUse),
  })
}

const lastUseOf = (lastUse: { readonly at: number; readonly address?: string | null } | null) => ({
  lastUsedAt: lastUse?.at ?? null,
  lastUsedAddress: lastUse?.address ?? null,
})

/** Returns the members of a list that scripts receive. */
export const arrangementToWire = ({
  count,
  is_partial,
  previous,
  next,
}: Arranged): Json<typeof arrangement> => ({ count, is_partial, previous, next })

/** Converts an authorization of an application. */
export const deviceToWire = (device: Device, scopes: ScopeRegistry): Json<typeof deviceShape> =>
  toJson(deviceShape, {
    ...device,
    id: device.tokenId,
    scopes: scopes.visible(device.scopes),
    browser: deviceName(device.userAgent),
    ...lastUseOf(device.lastUse),
  })

/** Converts an application for users who authorized it. */
export const applicationToWire = (
  client: Client,
  server: ServerContext,
): Json<typeof applicationShape> =>
  toJson(applicationShape, {
    ...client,
    owner: client.owner?.email ?? null,
    maker: client.maker ?? null,
    logo: logoUrlOf(client, server),
    isVerified: client.isVerified || client.isInternal,
  })

/** Converts an application that the user authorized. */
export const authorizedToWire = (
  application: AuthorizedApplication,
  server: ServerContext,
): Json<typeof authorizedApplication> => {
  const { client, grantedAt, devices, deviceCount } = application
  const { scopes } = server
  return {
    ...applicationToWire(client, server),
    scopes: scopes.visible(application.scopes),
    granted_at: isoTimeOrNull(grantedAt),
    devices: devices.map((device) => deviceToWire(device, scopes)),
    device_count: deviceCount,
  }
}

export const sessionToWire = (
  session: StoredSession,
  currentId: string,
): Json<typeof sessionShape> =>
  toJson(sessionShape, {
    ...session,
    isCurrent: session.id === currentId,
    browser: deviceName(session.userAgent),
  })

/** Converts a client for administrators. */
export const adminClientToWire = (
  { client, users }: ListedClient,
  server: Pick<ServerContext, 'scopes' | 'settings'>,
): Json<typeof adminClient> =>
  toJson(adminClient, {
    ...clientSource(client, users, server),
    owner: client.owner?.email ?? null,
    seen: identityDigest(client),
  })

/** Converts a user for administrators. */
export const userToWire = (user: User): Json<typeof userShape> => ({
  id: user.id,
  email: user.email || null,
  email_verified: user.emailVerified,
  is_active: user.active,
  is_admin: user.isAdmin,
})

/** Converts a credential that leaked, for the user or the administrator who looked it up. */
export const leakedToWire = (
  { credential, user, client, lastUse, ...facts }: LeakFacts,
  scopes: ScopeRegistry,
  viewer: User,
): Json<typeof leakedCredential> => ({
  kind: credential.kind,
  ending: credential.ending,
  name: credential.name,
  is_valid: facts.isValid,
  user_id: user?.id ?? null,
  user: user?.email || null,
  is_own: user?.id === viewer.id,
  client_id: credential.clientId,
  client_name: client?.name ?? null,
  is_client_owner: client !== null && client.owner?.id === viewer.id,
  is_disabled: client?.isDisabled ?? false,
  scopes: scopes.visible(facts.scopes),
  is_bound: facts.isBound,
  created_at: isoTimeOrNull(facts.createdAt),
  expires: isoTimeOrNull(facts.expires),
  last_used_at: isoTimeOrNull(lastUse?.at ?? null),
  last_used_address: lastUse?.address ?? null,
  acts: facts.acts,
  events: facts.events.map(viewer.isAdmin ? auditToWire : ownAuditToWire),
})

/** Converts the summary of a token for administrators. */
export const tokenSummaryToWire = (token: TokenSummary): Json<typeof adminToken> =>
  toJson(adminToken, { ...token, name: token.clientName, user: token.userEmail })

export const adminTokenToWire = ({
  fields,
  clientName,
  userEmail,
  lastUse,
}: TokenWithNames): Json<typeof adminToken> =>
  toJson(adminToken, { ...fields, name: clientName, user: userEmail, ...lastUseOf(lastUse) })
