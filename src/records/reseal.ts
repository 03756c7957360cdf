import type { StoredToken } from '../store/store.ts'
import { accessClaims, consentClaims, refreshClaims } from './claims.ts'
import type { RecordsContext } from './context.ts'

/**
 * Seals a client's tokens and consents anew after its id has changed, in the transaction that has changed it.
 * What does not open as of the former id is left to be refused.
 */
export const resealClient = async (
  context: RecordsContext,
  formerId: string,
  clientId: string,
): Promise<void> => {
  await resealConsents(context, formerId, clientId)
  for (const token of await context.store.tokens.ofClient(clientId))
    await resealToken(context, token, formerId)
}

const resealToken = async (
  { store, keys }: RecordsContext,
  { fields: moved, accessDigest, refreshDigest, ...sealed }: StoredToken,
  formerId: string,
): Promise<void> => {
  const fields = { ...moved, clientId: formerId }
  const access = keys.open('token', sealed.accessToken, accessClaims(accessDigest, fields))
  if (access === undefined) return
  const accessToken = keys.seal('token', access, accessClaims(accessDigest, moved))
  let { refreshToken } = sealed
  if (refreshToken !== null && refreshDigest !== null && fields.authorizationId !== null) {
    const nothing = { scopes: [], resources: [] }
    const granted = (await store.authorizations.find(fields.authorizationId)) ?? nothing
    const refresh = keys.open('token', refreshToken, refreshClaims(refreshDigest, fields, granted))
    if (refresh === undefined) return
    refreshToken = keys.seal('token', refresh, refreshClaims(refreshDigest, moved, granted))
  }
  await store.tokens.reseal(fields.id, { accessToken, refreshToken })
}

const resealConsents = async (
  { store, keys }: RecordsContext,
  formerId: string,
  clientId: string,
): Promise<void> => {
  for (const { consent: moved, seal } of await store.consents.ofClient(clientId)) {
    if (!keys.isIntact(seal, consentClaims({ ...moved, clientId: formerId }))) continue
    await store.consents.put({ consent: moved, seal: keys.sealRow(consentClaims(moved)) })
  }
}
