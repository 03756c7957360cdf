import type { SealedConsent, StoredToken } from '../store/store.ts'
import { accessClaims, consentClaims, refreshClaims } from './claims.ts'
import type { RecordsContext } from './context.ts'

/** Seals a client's tokens anew after its id has changed; one that does not open is left to be refused. */
export const resealTokens = async (
  { store, keys }: RecordsContext,
  tokens: readonly StoredToken[],
  clientId: string,
): Promise<void> => {
  for (const token of tokens) {
    const { fields, accessDigest, refreshDigest } = token
    const moved = { ...fields, clientId }
    const access = keys.open('token', token.accessToken, accessClaims(accessDigest, fields))
    if (access === undefined) continue
    const accessToken = keys.seal('token', access, accessClaims(accessDigest, moved))
    let refreshToken = token.refreshToken
    if (refreshToken !== null && refreshDigest !== null && fields.authorizationId !== null) {
      const granted = (await store.authorizations.find(fields.authorizationId))?.scopes ?? []
      const refresh = keys.open(
        'token',
        refreshToken,
        refreshClaims(refreshDigest, fields, granted),
      )
      if (refresh === undefined) continue
      refreshToken = keys.seal('token', refresh, refreshClaims(refreshDigest, moved, granted))
    }
    await store.tokens.reseal(fields.id, { accessToken, refreshToken })
  }
}

export const resealConsents = async (
  { store, keys }: RecordsContext,
  consents: readonly SealedConsent[],
  clientId: string,
): Promise<void> => {
  for (const { consent, seal } of consents) {
    if (!keys.isIntact(seal, consentClaims(consent))) continue
    const moved = { ...consent, clientId }
    await store.consents.put({ consent: moved, seal: keys.sealRow(consentClaims(moved)) })
  }
}
