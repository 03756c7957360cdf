import { systemRandom } from '../crypto/random.ts'
import { KeyRing } from '../crypto/sealed.ts'
import { object } from '../model/members.ts'
import { locationOf } from '../model/user-table.ts'
import { InvalidSettings } from '../settings/invalid-settings.ts'
import { looseningWarnings } from '../settings/loosening-warnings.ts'
import type { AroundStore } from '../store/store.ts'
import { pagesOf } from './appearance.ts'
import type { AuthorizationServerOptions } from './options.ts'
import { checkedOptions, loadVerifyJwt } from './start-up.ts'
import { createObservers } from './telemetry/observers.ts'

/** The checked options, and the objects that can be created without a store. */
export type Prepared = Awaited<ReturnType<typeof prepare>>

/**
 * Checks the options before a store is opened.
 * @throws InvalidSettings for invalid options
 */
export const prepare = async (options: AuthorizationServerOptions) => {
  const [problem] = object.problems('createAuthorizationServer(): the options', options)
  if (problem !== undefined) throw new InvalidSettings([problem])
  const { random = systemRandom } = options
  const aroundStore: AroundStore = options.aroundStore ?? ((_operation, run) => run())
  const checked = await checkedOptions(options)
  const { settings, secrets } = checked
  const observers = await createObservers(options.log, settings)
  const pages = pagesOf(options.pages)
  for (const message of looseningWarnings(settings))
    observers.log({ level: 'warn', event: 'settings.loosened', message })
  const keys = new KeyRing(secrets, options.clock ?? Date.now)
  const verifyJwt = await loadVerifyJwt(options, settings)
  const users = locationOf(options.users)
  return { ...checked, ...observers, options, random, keys, pages, verifyJwt, users, aroundStore }
}
