import type { Listed } from './contract/page.ts'
import type { AroundStore, Store } from './store.ts'

/** The operations of `Listed`, whose first argument is the name of the list. */
const listed: ReadonlySet<string> = new Set<keyof Listed<unknown>>(['list', 'summaries', 'count'])

/** Returns the name of an operation, with the name of the list if the part has named lists. */
const nameOf = (part: string, key: string, [list]: readonly unknown[]): string =>
  listed.has(key) && typeof list === 'string' ? `${part}.${key} ${list}` : `${part}.${key}`

/**
 * Wraps the operations of a store in `around`, including operations inside transactions. Does not wrap `secretKeys`,
 * `recallClient` and the operations of the open store, such as `migrate`.
 */
export const decorated = <S extends Store>(store: S, around: AroundStore): S => {
  const part = <P extends object>(name: string, operations: P): P =>
    new Proxy(operations, {
      get: (target, key) => {
        const operation: unknown = Reflect.get(target, key)
        if (typeof operation !== 'function') return operation
        return (...args: unknown[]) =>
          around({ name: nameOf(name, String(key), args) }, () =>
            Reflect.apply(operation, target, args),
          )
      },
    })
  const parts = [
    'clients',
    'tokens',
    'rotatedTokens',
    'authorizations',
    'consents',
    'users',
    'removals',
    'sweeperNotes',
    'sessions',
    'clientLogins',
    'logoutNotices',
    'clientLogos',
    'transients',
    'transientRows',
    'audit',
    'auditCheckpoints',
    'auditCounts',
    'signingKeys',
  ] as const
  const sealed = Object.entries(store.sealed).map(([kind, rows]) => [
    kind,
    part(`sealed.${kind}`, rows),
  ])
  return {
    ...store,
    // A transaction does not enumerate its parts.
    secretKeys: store.secretKeys,
    sealed: Object.fromEntries(sealed),
    ...Object.fromEntries(parts.map((name) => [name, part(name, store[name])])),
    transaction: <T>(work: (tx: Store) => Promise<T>) =>
      around({ name: 'transaction' }, () => store.transaction((tx) => work(decorated(tx, around)))),
  }
}
