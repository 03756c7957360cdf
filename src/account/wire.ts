import { auditToWire, ownAuditToWire } from '../model/audit-wire.ts'
import type { Client } from '../model/client.ts'
import { editedMetadata } from '../model/client-metadata.ts'
import type { StoredSession } from '../model/entities/session.ts'
import type { Scope, ScopeRegistry } from '../model/scope.ts'
import type { User } from '../model/user.ts'
import type { RefusedClientItem } from '../pages/models/admin.ts'
import type { Arranged } from '../pages/parts/lists.ts'
import { scopeTexts } from '../pages/parts/scopes.ts'
import type { adminClient, adminToken, refusedClient } from '../pages/shapes/administration.ts'
import type {
  arrangement,
  authorizedApplication,
  device as deviceShape,
} from '../pages/shapes/applications.ts'
import type { client as clientShape, scope as scopeShape } from '../pages/shapes/clients.ts'
import type { leakedCredential } from '../pages/shapes/leaked.ts'
import type { personalToken } from '../pages/shapes/personal-tokens.ts'
import type { session as sessionShape } from '../pages/shapes/sessions.ts'
import type { Json } from '../pages/shapes/shape.ts'
import type { user as userShape } from '../pages/shapes/users.ts'
import { logoUrlOf } from '../protocol/endpoints/assets/client-logo.ts'
import type { ServerContext } from '../protocol/server-context.ts'
import type { AuthorizedApplication, Device } from '../records/authorized-applications.ts'
import type { ListedClient } from '../records/clients/client-input.ts'
import { identityDigest } from '../records/clients/verified-identity.ts'
import type { ManagedToken } from '../records/tokens/personal-tokens.ts'
import type { TokenSummary, TokenWithNames } from '../store/contract/tokens.ts'
import { deviceName } from './device-name.ts'
import type { LeakFacts } from './leaked/facts.ts'
import type { SettingsRequest } from './settings-request.ts'

// These functions convert records to JSON values. Their return types are derived from the schemas of the OpenAPI
// document, so the compiler reports a value that does not match its schema.

const time = (at: number): string => new Date(at).toISOString()

const timeOrNull = (at: number | null): string | null => (at === null ? null : time(at))

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
  { scopes, settings }: Pick<ServerContext, 'scopes' | 'settings'>,
): Json<typeof clientShape> => {
  const { logo_uri, ...logoutUris } = editedMetadata(client)
  return {
    client_id: client.clientId,
    name: client.name,
    description: client.description,
    website: client.website,
    logo_uri,
    client_type: client.clientType,
    is_confidential: client.isConfidential,
    redirect_uris: client.redirectUris,
    default_scopes: scopes.visible(client.defaultScopes),
    optional_scopes: scopes.visible(client.optionalScopes),
    is_verified: client.isVerified,
    is_disabled: client.isDisabled,
    users,
    client_secret_leaked_at: timeOrNull(client.secretLeakedAt),
    previous_client_secret_expires: timeOrNull(client.previousClientSecretExpires),
    created_at: time(client.createdAt),
    ...(settings.openidConnect && logoutUris),
  }
}

/** Converts a personal token, without its value. */
export const personalTokenToWire = ({
  token,
  name,
  lastFour,
  usedScopes,
  lastUse,
  previousExpires,
}: ManagedToken): Json<typeof personalToken> => ({
  id: token.id,
  name,
  last_four: lastFour,
  scopes: token.getVisibleScopes(),
  expires: timeOrNull(token.expires),
  created_at: time(token.createdAt),
  used_scopes: token.getVisibleScopes().filter((scope) => usedScopes.includes(scope)),
  last_used_at: timeOrNull(lastUse?.at ?? null),
  last_used_address: lastUse?.address ?? null,
  previous_expires: timeOrNull(previousExpires),
})

/** Returns the members of a list that scripts receive. */
export const arrangementToWire = ({
  count,
  is_partial,
  previous,
  next,
}: Arranged): Json<typeof arrangement> => ({ count, is_partial, previous, next })

/** Converts an authorization of an application. */
export const deviceToWire = (device: Device, scopes: ScopeRegistry): Json<typeof deviceShape> => ({
  id: device.tokenId,
  client_id: device.clientId,
  scopes: scopes.visible(device.scopes),
  browser: deviceName(device.userAgent),
  created_at: time(device.createdAt),
  ends: timeOrNull(device.ends),
  last_used_at: timeOrNull(device.lastUse?.at ?? null),
  last_used_address: device.lastUse?.address ?? null,
})

/** Converts an application that the user authorized. */
export const authorizedToWire = (
  application: AuthorizedApplication,
  server: ServerContext,
): Json<typeof authorizedApplication> => {
  const { client, grantedAt, devices, deviceCount } = application
  const { scopes } = server
  return {
    client_id: client.clientId,
    name: client.name,
    description: client.description,
    website: client.website,
    owner: client.owner?.email ?? null,
    maker: client.maker ?? null,
    logo: logoUrlOf(client, server),
    is_verified: client.isVerified || client.isInternal,
    scopes: scopes.visible(application.scopes),
    granted_at: timeOrNull(grantedAt),
    devices: devices.map((device) => deviceToWire(device, scopes)),
    device_count: deviceCount,
  }
}

export const sessionToWire = (
  session: StoredSession,
  currentId: string,
): Json<typeof sessionShape> => ({
  id: session.id,
  is_current: session.id === currentId,
  browser: deviceName(session.userAgent),
  address: session.address,
  created_at: time(session.createdAt),
  last_seen_at: time(session.lastSeenAt),
})

/** Converts a client for administrators. */
export const adminClientToWire = (
  { client, users }: ListedClient,
  server: Pick<ServerContext, 'scopes' | 'settings'>,
): Json<typeof adminClient> => ({
  ...clientToWire(client, users, server),
  owner: client.owner?.email ?? null,
  is_pinned: client.isPinned,
  seen: identityDigest(client),
  default_resource: client.defaultResource,
})

/** Converts a user for administrators. */
export const userToWire = (user: User): Json<typeof userShape> => ({
  id: user.id,
  email: user.email || null,
  email_verified: user.emailVerified,
  is_active: user.active,
  is_admin: user.isAdmin,
})

/** Converts a credential that leaked. */
export const leakedToWire = (
  { credential, user, client, lastUse, ...facts }: LeakFacts,
  scopes: ScopeRegistry,
  isAdmin: boolean,
): Json<typeof leakedCredential> => ({
  kind: credential.kind,
  ending: credential.ending,
  name: credential.name,
  is_valid: facts.isValid,
  user_id: user?.id ?? null,
  user: user?.email || null,
  client_id: credential.clientId,
  is_disabled: client?.isDisabled ?? false,
  scopes: scopes.visible(facts.scopes),
  is_bound: facts.isBound,
  created_at: timeOrNull(facts.createdAt),
  expires: timeOrNull(facts.expires),
  last_used_at: timeOrNull(lastUse?.at ?? null),
  last_used_address: lastUse?.address ?? null,
  acts: facts.acts,
  events: facts.events.map(isAdmin ? auditToWire : ownAuditToWire),
})

/** Converts an application whose requests were refused, for administrators. */
export const refusedClientToWire = ({
  clientId,
  name,
  count,
  at,
  reasons,
}: RefusedClientItem): Json<typeof refusedClient> => ({
  client_id: clientId,
  name,
  count,
  last_at: time(at),
  reasons,
})

/** Converts the summary of a token for administrators. */
export const tokenSummaryToWire = (token: TokenSummary): Json<typeof adminToken> => ({
  id: token.id,
  name: token.clientName,
  client_id: token.clientId,
  is_personal: token.isPersonal,
  user: token.userEmail,
  scopes: token.scopes,
  created_at: time(token.createdAt),
  expires: timeOrNull(token.expires),
  last_used_at: timeOrNull(token.lastUsedAt),
})

export const adminTokenToWire = ({
  fields,
  clientName,
  userEmail,
  lastUse,
}: TokenWithNames): Json<typeof adminToken> => ({
  id: fields.id,
  name: clientName,
  client_id: fields.clientId,
  is_personal: fields.isPersonal,
  user: userEmail,
  scopes: fields.scopes,
  created_at: time(fields.createdAt),
  expires: timeOrNull(fields.expires),
  last_used_at: timeOrNull(lastUse?.at ?? null),
})
