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
  const wrapped = <P extends object>(name: string, operations: P): P =>
    new Proxy(operations, {
      get: (target, key) => {
        const operation: unknown = Reflect.get(target, key)
        if (typeof operation === 'object' && operation !== null)
          return wrapped(`${name}.${String(key)}`, operation)
        if (typeof operation !== 'function') return operation
        return (...args: unknown[]) =>
          around({ name: nameOf(name, String(key), args) }, () =>
            Reflect.apply(operation, target, args),
          )
      },
    })
  const transaction = <T>(work: (tx: Store) => Promise<T>) =>
    around({ name: 'transaction' }, () => store.transaction((tx) => work(decorated(tx, around))))
  const parts = new Map<PropertyKey, unknown>([['transaction', transaction]])
  // A transaction builds each part when it is first used.
  return new Proxy(store, {
    get(target, key) {
      const known = parts.get(key)
      if (known !== undefined) return known
      const part: unknown = Reflect.get(target, key)
      if (typeof part !== 'object' || part === null || key === 'secretKeys') return part
      const made = wrapped(String(key), part)
      parts.set(key, made)
      return made
    },
  })
}
