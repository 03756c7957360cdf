import type { Client } from '../../../model/client.ts'
import type { Scope, ScopeRegistry } from '../../../model/scope.ts'
import type { AuthorizedApplication, Device } from '../../../records/authorized-applications.ts'
import type { ListedClient } from '../../../records/clients/client-input.ts'
import type { ManagedToken } from '../../../records/tokens/personal-tokens.ts'
import type { StoredSession } from '../../../store/contract/sessions.ts'
import type { TokenWithNames } from '../../../store/contract/tokens.ts'
import { deviceName } from './device-name.ts'

/** Times on the wire are ISO 8601 in UTC. */
const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

/** A scope that can be chosen, in the reader's language. */
export const scopeToWire = (scope: Scope, language: string) => {
  const { helpText, group } = scope.textsFor(language)
  return { id: scope.id, help_text: helpText, group }
}

/**
 * A client application as its owner's scripts read it; the secret is never part of it, nor is a scope
 * that its owner cannot choose.
 */
export const clientToWire = (client: Client, users: number, scopes: ScopeRegistry) => ({
  client_id: client.clientId,
  name: client.name,
  description: client.description,
  website: client.website,
  client_type: client.clientType,
  is_confidential: client.isConfidential,
  redirect_uris: client.redirectUris,
  default_scopes: scopes.visible(client.defaultScopes),
  optional_scopes: scopes.visible(client.optionalScopes),
  is_verified: client.isVerified,
  is_disabled: client.isDisabled,
  users,
  client_secret_leaked_at: time(client.secretLeakedAt),
  previous_client_secret_expires: time(client.previousClientSecretExpires),
  created_at: time(client.createdAt),
})

/** A personal token without its value. */
export const personalTokenToWire = ({ token, name, lastUse, previousExpires }: ManagedToken) => ({
  id: token.id,
  name,
  scopes: token.getVisibleScopes(),
  expires: time(token.expires),
  created_at: time(token.createdAt),
  last_used_at: time(lastUse?.at ?? null),
  last_used_address: lastUse?.address ?? null,
  previous_expires: time(previousExpires),
})

/** One authorization of an application. */
export const deviceToWire = (device: Device, scopes: ScopeRegistry) => ({
  id: device.tokenId,
  client_id: device.clientId,
  scopes: scopes.visible(device.scopes),
  browser: deviceName(device.userAgent),
  created_at: time(device.createdAt),
  ends: time(device.ends),
  last_used_at: time(device.lastUse?.at ?? null),
  last_used_address: device.lastUse?.address ?? null,
})

/** An application that the user authorized. */
export const authorizedToWire = (application: AuthorizedApplication, scopes: ScopeRegistry) => {
  const { client, grantedAt, devices, deviceCount } = application
  return {
    client_id: client.clientId,
    name: client.name,
    website: client.website,
    owner: client.owner?.email ?? null,
    is_verified: client.isVerified || client.isInternal,
    scopes: scopes.visible(application.scopes),
    granted_at: time(grantedAt),
    devices: devices.map((device) => deviceToWire(device, scopes)),
    device_count: deviceCount,
  }
}

export const sessionToWire = (session: StoredSession, currentId: string) => ({
  id: session.id,
  is_current: session.id === currentId,
  browser: deviceName(session.userAgent),
  address: session.address,
  created_at: time(session.createdAt),
  last_seen_at: time(session.lastSeenAt),
})

/** A client application as an administrator's scripts read it. */
export const adminClientToWire = ({ client, users }: ListedClient, scopes: ScopeRegistry) => ({
  ...clientToWire(client, users, scopes),
  owner: client.owner?.email ?? null,
})

export const adminTokenToWire = ({ fields, clientName, userEmail, lastUse }: TokenWithNames) => ({
  id: fields.id,
  name: clientName,
  client_id: fields.clientId,
  is_personal: fields.isPersonal,
  user: userEmail,
  scopes: fields.scopes,
  created_at: time(fields.createdAt),
  expires: time(fields.expires),
  last_used_at: time(lastUse?.at ?? null),
})
