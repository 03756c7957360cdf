import { PasswordHasher } from '../crypto/passwords/password.ts'
import { createOutbound } from '../http/outbound/fetcher.ts'
import { type Outbound, OutboundFailed } from '../http/outbound/outbound.ts'
import { currentOrigin } from '../http/request-scope.ts'
import type { ClientContext } from '../model/client.ts'
import type { LogSink } from '../model/log.ts'
import { typeOfImage, UnacceptableImage } from '../model/raster/raster-image.ts'
import { enabledResponseTypes } from '../model/response-type.ts'
import { jwtMint } from '../protocol/extensions/jwt-access-tokens.ts'
import { providerOperations } from '../protocol/provider-operations.ts'
import { allRecords } from '../records/all-records.ts'
import { ClientLogos, type DownloadLogo } from '../records/clients/client-logos.ts'
import { ClientRefusals } from '../records/clients/client-refusals.ts'
import type { RecordsContext, UsersPort } from '../records/context.ts'
import { SigningKeys } from '../records/keys/signing-keys.ts'
import { Limits } from '../records/limits.ts'
import { IntactState } from '../records/seals/intact-state.ts'
import { TokenBounds } from '../records/tokens/token-bounds.ts'
import { TokenUses } from '../records/tokens/token-uses.ts'
import { Turns } from '../records/turns.ts'
import { callbackUsers, tableUsers } from '../records/users/application-users.ts'
import { builtInUsers } from '../records/users/built-in-users.ts'
import { requesterOf } from '../records/users/password-tries.ts'
import type { Observed } from './observe-store.ts'
import { warnOfReusableIds } from './open-store.ts'
import type { AuthorizationServerOptions } from './options.ts'
import { Removals } from './sweeper/removals.ts'

/** The parts of the server with the records, the provider operations, and the background jobs of the records. */
export type Built = Observed & ReturnType<typeof buildRecords>

/** Builds the records from the store, the settings, the secret keys and the clock. */
export const buildRecords = (observed: Observed) => {
  const { options, settings, issuer, scopes, keys, random, log, store, audit } = observed
  const clock = observed.serverClock.now
  const base = { store, settings, keys, clock, log, audit }
  const removals = new Removals(base)
  const signingKeys = new SigningKeys(base)
  const bounds = new TokenBounds(base)
  const limits = new Limits(store.transients, clock, {
    numbers: settings.limits,
    isOff: settings.dangerouslyIgnoreLimits,
    log,
  })
  const context: RecordsContext = {
    ...base,
    turns: new Turns(store),
    transients: store.transients,
    scopes,
    intact: new IntactState(keys),
    passwords: new PasswordHasher(),
    requester: () => requesterOf(currentOrigin()),
    limits,
    clientContext: clientContextOf(observed),
    users: usersOf(options.users, log),
    saveToken: options.saveToken,
    mint:
      settings.accessTokenFormat === 'jwt'
        ? jwtMint({ issuer, algorithm: settings.signingAlgorithm, signingKeys, random })
        : undefined,
    random,
    bounds,
    removed: (removal) => removals.begin(removal),
    endLogins: (userId, within) => removals.endLogins(userId, within),
    fetchLogo: (clientId) => logos.fetchSoon(clientId),
  }
  const outbound = createOutbound(options.outbound, { settings, clock })
  const logos = new ClientLogos(context, logoDownload(outbound))
  const built = allRecords(context)
  return {
    context,
    records: built,
    provider: providerOperations(options, built, context),
    signingKeys,
    uses: new TokenUses(store, log),
    bounds,
    refusals: new ClientRefusals(context),
    removals,
    outbound,
    logos,
  }
}

/** Returns the users of the option `users`, or the built-in users. */
const usersOf = (users: AuthorizationServerOptions['users'], log: LogSink): UsersPort => {
  if (!users) return builtInUsers
  return 'name' in users ? tableUsers(users) : callbackUsers(users, () => warnOfReusableIds(log))
}

/** Returns the scopes, grant types and response types that clients may be registered for. */
const clientContextOf = ({
  settings,
  scopes,
  resources,
  plugIns: { grants, knownGrants },
}: Observed): Omit<ClientContext, 'countTokens'> => ({
  scopes,
  allowedGrantTypes: grants.map(({ type }) => type),
  allowedResponseTypes: enabledResponseTypes(settings),
  knownGrantTypes: knownGrants.map(({ type }) => type),
  defaultScopes: settings.defaultScopes,
  resources,
})

/** The maximum size of a logo in bytes. */
const largest = 102_400
/** The accepted media types. `typeOfImage` determines the actual type from the content. */
const accept = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']

/** Creates the function that downloads an image and checks its content. */
export const logoDownload =
  (outbound: Outbound): DownloadLogo =>
  async (url) => {
    try {
      const bytes = await outbound.bytes({ url, accept, largest })
      typeOfImage(bytes)
      return { bytes }
    } catch (error) {
      const isExpected = error instanceof OutboundFailed || error instanceof UnacceptableImage
      if (isExpected) return { problem: error.message, cause: error }
      throw error
    }
  }
