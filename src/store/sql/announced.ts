import type { Rotation, Store } from '../store.ts'

type Operation = (...args: unknown[]) => unknown

type Operations<Part extends keyof Store> = {
  readonly [Operation in keyof Store[Part]]: 'changes' | 'keeps' | 'rotates'
}

/** Which operations change what a token that exists is worth. What only adds to it, or ends what has expired, does not. */
const operations: { readonly [Part in keyof Store]?: Operations<Part> } = {
  clients: {
    find: 'keeps',
    insert: 'keeps',
    update: 'changes',
    delete: 'changes',
    deleteUnused: 'keeps',
    findBySecret: 'keeps',
    countOfOwner: 'keeps',
    countUnused: 'keeps',
    countUsers: 'keeps',
    countUsersOf: 'keeps',
    ofOwner: 'keeps',
    search: 'keeps',
    authorizedBy: 'keeps',
  },
  tokens: {
    findByAccess: 'keeps',
    findByRefresh: 'keeps',
    find: 'keeps',
    hold: 'keeps',
    insert: 'keeps',
    rotate: 'rotates',
    findRotated: 'keeps',
    ofAuthorization: 'keeps',
    ofClient: 'keeps',
    countPersonalOf: 'keeps',
    personalOf: 'keeps',
    personal: 'keeps',
    deleteOwn: 'changes',
    deleteChildren: 'changes',
    deletePrevious: 'changes',
    authorizedOf: 'keeps',
    authorized: 'keeps',
    search: 'keeps',
    rewrite: 'changes',
    touch: 'keeps',
    personalNamed: 'keeps',
    reseal: 'keeps',
    delete: 'changes',
    deleteOfClient: 'changes',
    deleteExpired: 'keeps',
  },
  authorizations: {
    insertOnce: 'keeps',
    find: 'keeps',
    findByCode: 'keeps',
    beyond: 'keeps',
    revoke: 'changes',
    revokeOfClient: 'changes',
    revokeOfUser: 'changes',
    deleteOfClient: 'changes',
    deleteExpired: 'keeps',
  },
  users: {
    find: 'keeps',
    findByEmail: 'keeps',
    insert: 'keeps',
    setActive: 'changes',
    setAdmin: 'changes',
    setPassword: 'keeps',
    delete: 'changes',
  },
  userData: { idsInUse: 'keeps', deleteOf: 'changes' },
}

/**
 * The same store, which announces what changes a token that exists: after the commit, before anybody is answered.
 * Also after a failure, since what was asked for may have been done.
 */
export const announced = <S extends Store>(
  store: S,
  announce: () => Promise<void>,
  {
    tellsRotations,
    isInTransaction = false,
  }: {
    /** Rotations are frequent: only where somebody may keep what they end. */
    readonly tellsRotations: boolean
    readonly isInTransaction?: boolean
  },
): S => {
  // Alone, the statement of a rotation tells by itself which tokens have ended.
  const isTold = (kind: string, [rotation]: readonly unknown[]): boolean =>
    kind === 'rotates' &&
    (!tellsRotations || (!isInTransaction && !(rotation as Rotation).isNarrowed))
  const parts = Object.entries(operations).map(([name, kinds]) => {
    const part = store[name as keyof typeof operations] as unknown as Record<string, Operation>
    const changing = Object.entries(kinds).flatMap(([operation, kind]) => {
      const run = part[operation]
      if (kind === 'keeps' || !run) return []
      const change = (...args: unknown[]) =>
        isTold(kind, args) ? run(...args) : andThen(announce, async () => run(...args))
      return [[operation, change]]
    })
    return [name, { ...part, ...Object.fromEntries(changing) }]
  })
  return {
    ...store,
    ...Object.fromEntries(parts),
    transaction<T>(work: (tx: Store) => Promise<T>): Promise<T> {
      let isChanged = false
      const mark = async () => {
        isChanged = true
      }
      const announceIfChanged = async () => {
        if (isChanged) await announce()
      }
      return andThen(announceIfChanged, () =>
        store.transaction((tx) =>
          work(announced(tx, mark, { tellsRotations, isInTransaction: true })),
        ),
      )
    },
  }
}

const andThen = async <T>(announce: () => Promise<void>, run: () => Promise<T>): Promise<T> => {
  try {
    return await run()
  } finally {
    await announce()
  }
}
