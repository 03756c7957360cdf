import type { AuditRecord } from '../../model/audit-event.ts'
import type { Client } from '../../model/client.ts'
import type { Credential } from '../../model/credential.ts'
import type { TokenFields } from '../../model/entities/token.ts'
import { isExpired } from '../../model/token.ts'
import type { User } from '../../model/user.ts'
import type { leakActs } from '../../pages/shapes/leaked.ts'
import type { ServerContext } from '../../protocol/server-context.ts'
import { findByRegistrationToken } from '../../records/clients/client-rows.ts'
import { deviceAuthorizations } from '../../records/device-authorizations.ts'
import type { TokenUse } from '../../store/contract/tokens.ts'

export type LeakAct = (typeof leakActs)[number]

/** The current state of a credential. */
export interface LeakFacts {
  readonly credential: Credential
  /** Whether the credential still exists. It may be expired, or belong to a disabled client or an inactive user. */
  readonly exists: boolean
  readonly isValid: boolean
  /** The user of the credential. For a client secret, the owner of the client. */
  readonly user: User | null
  /** Null for a personal token, a session, and a deleted client. */
  readonly client: Client | null
  readonly scopes: readonly string[]
  readonly isBound: boolean
  readonly createdAt: number | null
  readonly expires: number | null
  readonly lastUse: TokenUse | null
  readonly acts: readonly LeakAct[]
  readonly events: readonly AuditRecord[]
}

/** The maximum number of listed events. */
const maxEvents = 10

/** Reads the current state of a credential for its user, or for an administrator. */
export const factsOf = async (
  credential: Credential,
  viewer: User,
  server: ServerContext,
): Promise<LeakFacts> => {
  const { users, clients, activity } = server
  const { userId, clientId } = credential
  const [state, user = null, client = null, events] = await Promise.all([
    stateOf(credential, server),
    userId === null ? undefined : users.find(userId),
    clientId === null ? undefined : clients.find(clientId),
    activity.latestOf(subjectOf(credential, viewer), maxEvents),
  ])
  const known = { ...unknown, ...state }
  const exists = state !== undefined
  const isRefused = client?.isActive === false || user?.active === false
  return {
    credential,
    ...known,
    exists,
    isValid: exists && !isRefused && !isExpired(known.expires, server.clock()),
    user,
    client,
    acts: actsOf({ credential, client, user, exists }, viewer, server),
    events,
  }
}

type State = Pick<LeakFacts, 'scopes' | 'isBound' | 'createdAt' | 'expires' | 'lastUse'>

const unknown: State = {
  scopes: [],
  isBound: false,
  createdAt: null,
  expires: null,
  lastUse: null,
}

const stateOf = async (
  { kind, tokenId, clientId, digest, ...credential }: Credential,
  server: ServerContext,
): Promise<Partial<State> | undefined> => {
  let { authorizationId } = credential
  const { store, clients, sessions } = server
  if (kind === 'session') {
    const session = digest && (await sessions.findByDigest(digest))
    if (!session) return undefined
    const { createdAt, expiresAt: expires, lastSeenAt: at, address } = session
    return { createdAt, expires, lastUse: { at, address } }
  }
  if (kind === 'client_secret') {
    const client = await clients.find(clientId ?? '')
    if (digest === null || !client?.hasSecretDigest(digest, server.clock())) return undefined
    return { scopes: client.scopeCeilingWithoutConsent }
  }
  if (kind === 'registration_token')
    return digest && (await findByRegistrationToken(digest, server.records)) ? {} : undefined
  if (kind === 'user_link') return digest && (await server.userLinks.has(digest)) ? {} : undefined
  if ((kind === 'authorization_code' || kind === 'device_code') && digest !== null) {
    const redeemed = await store.authorizations.find({ codeDigest: digest })
    const codes =
      kind === 'device_code' ? deviceAuthorizations(server).requests : server.shortLived.codes
    if (!redeemed) return (await codes.getDigest(digest)) ? {} : undefined
    if (redeemed.revokedAt !== null) return undefined
    authorizationId = redeemed.id
  }
  const row =
    authorizationId === null
      ? await store.tokens.find(tokenId ?? 0)
      : await store.tokens.find({ authorizationId })
  if (!row) return undefined
  const { fields, lastUse } = row
  const { scopes, createdAt, keyThumbprint } = fields
  return { scopes, isBound: keyThumbprint !== null, createdAt, expires: endOf(fields), lastUse }
}

const endOf = ({ expires, refreshExpires }: TokenFields): number | null =>
  expires === null ? null : Math.max(expires, refreshExpires ?? 0)

// Show users only the events of their own account, because other events of a client may name other users.
// Administrators see all events.
const subjectOf = ({ tokenId, clientId, userId }: Credential, viewer: User) => {
  const own = viewer.isAdmin ? {} : { userId: viewer.id }
  if (tokenId !== null) return { tokenId, ...own }
  return clientId === null ? { userId: userId ?? '' } : { clientId, ...own }
}

// The user of these credentials is the owner of the client, who may not have authorized the client.
const ofOwner: readonly Credential['kind'][] = ['client_secret', 'registration_token']

const actsOf = (
  {
    credential,
    client,
    user,
    exists,
  }: Pick<LeakFacts, 'credential' | 'client' | 'user' | 'exists'>,
  viewer: User,
  { ui }: ServerContext,
): readonly LeakAct[] => {
  const isOwner = client !== null && client.owner?.id === viewer.id
  const acts: Readonly<Record<LeakAct, boolean>> = {
    end: exists,
    end_application:
      client !== null && (viewer.isAdmin || isOwner || !ofOwner.includes(credential.kind)),
    disable: client !== null && viewer.isAdmin && !client.isDisabled,
    end_user: user !== null,
    log_out: user !== null && ui.links.sessions !== null,
  }
  return (Object.keys(acts) as LeakAct[]).filter((act) => acts[act])
}
