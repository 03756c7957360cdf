import { ownAuditToWire } from '../../model/audit-wire.ts'
import { addresses } from '../../pages/addresses.ts'
import type { LeakedItem } from '../../pages/models/leaked.ts'
import type { SettingsRequest } from '../settings-request.ts'
import type { LeakFacts } from './facts.ts'

/** Converts a credential for display. */
export const leakedItem = (facts: LeakFacts, { server, signedIn }: SettingsRequest): LeakedItem => {
  const { credential, user, client, lastUse, events } = facts
  const { kind, ending, name } = credential
  return {
    kind,
    ending,
    name,
    isValid: facts.isValid,
    user: user && (user.email || String(user.id)),
    userHref: user && signedIn.user.isAdmin ? addresses(server.ui.links).adminUser(user.id) : null,
    isOwn: user?.id === signedIn.user.id,
    application: client && { name: client.name, isDisabled: client.isDisabled },
    isOwner: client !== null && client.owner?.id === signedIn.user.id,
    scopes: server.scopes.visible(facts.scopes),
    isBound: facts.isBound,
    createdAt: facts.createdAt,
    expires: facts.expires,
    lastUsedAt: lastUse?.at ?? null,
    lastUsedAddress: lastUse?.address ?? null,
    acts: facts.acts,
    events: events.map(ownAuditToWire),
  }
}
