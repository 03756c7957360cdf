import type { AroundStore, Store } from './store.ts'

/** Returns the name of an operation, with the name of the list if there are several. */
const nameOf = (part: string, key: string, [list]: readonly unknown[]): string => {
  const name = `${part}.${key}`
  const isOfLists = /^(?:clients|tokens)\.(?:list|summaries|count)$/.test(name)
  return isOfLists && typeof list === 'string' ? `${name} ${list}` : name
}

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
    'authorizations',
    'consents',
    'users',
    'userData',
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
