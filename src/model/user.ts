/** The ID of a user. Its type is the key type of the user table; the built-in table uses integers. */
export type UserId = number | string

/** A user record, from the built-in user table or from the application. */
export interface User {
  readonly id: UserId
  readonly email: string
  readonly emailVerified: boolean
  readonly active: boolean
  readonly isAdmin: boolean
  /**
   * The time at which the application created the user: a date, or milliseconds or seconds since the epoch. The server
   * refuses tokens, clients, consents and sessions that are more than a minute older than the user. These rows belong
   * to a deleted user with the same ID. Built-in users need no `createdAt`, because their IDs are never reused.
   */
  readonly createdAt?: Date | number | undefined
}

/** The accepted difference between the clocks of the application and of this server, in milliseconds. */
export const reuseMargin = 60_000

/**
 * Returns the earliest time at which a row of this user can have been created, in milliseconds since the epoch; 0 if
 * the creation time of the user is unknown.
 */
export const earliestRowOf = (user: Pick<User, 'createdAt'> | null | undefined): number => {
  const time = Number(user?.createdAt ?? 0)
  if (!Number.isFinite(time)) return 0
  return (Math.abs(time) < maxSeconds ? time * 1000 : time) - reuseMargin
}

/** A number of at least this size is a time in milliseconds. As seconds, the time would be after the year 5000. */
export const maxSeconds = 1e11

/** Finds users and compares passwords for a user proxy. */
export interface UserSource {
  /** Returns the user; undefined if the user does not exist. */
  find(id: UserId): Promise<User | undefined>
  /** Returns whether this is the user's password. */
  checkPassword(id: UserId, password: string): Promise<boolean>
}

/**
 * Wraps a user record, and reads unknown attributes from the record. `toJSON()` returns only the ID of the user, from
 * which `UserProxy.fromId()` restores the proxy.
 */
class UserProxyBase {
  readonly #user: User
  readonly #source: UserSource

  constructor(user: User, source: UserSource) {
    this.#user = user
    this.#source = source
    // biome-ignore lint/correctness/noConstructorReturn: the proxy reads unknown attributes from the record
    return new Proxy(this, {
      get: (target, name) => {
        if (!(name in target)) {
          const read: unknown = Reflect.get(user, name)
          return typeof read === 'function' ? read.bind(user) : read
        }
        const own: unknown = Reflect.get(target, name, target)
        return typeof own === 'function' ? own.bind(target) : own
      },
      has: (target, name) => name in target || name in user,
      // Template engines such as Handlebars read only own properties.
      getOwnPropertyDescriptor: (target, name) =>
        Object.hasOwn(user, name)
          ? { value: Reflect.get(user, name), enumerable: true, configurable: true }
          : Reflect.getOwnPropertyDescriptor(target, name),
    })
  }

  /** The ID of the user. */
  get id(): UserId {
    return this.#user.id
  }

  /** The user record itself. */
  get record(): User {
    return this.#user
  }

  /** Returns whether this is the user's password; false for a user without a password. */
  checkPassword(password: string): Promise<boolean> {
    return this.#source.checkPassword(this.#user.id, password)
  }

  /** Returns the ID of the user, from which `fromId` restores the proxy. */
  toJSON(): UserId {
    return this.#user.id
  }

  /** Restores a proxy from the result of `toJSON()`. Returns undefined if the user does not exist. */
  static async fromId(id: UserId, source: UserSource): Promise<UserProxy | undefined> {
    const user = await source.find(id)
    return user && new UserProxy(user, source)
  }
}

/**
 * A user with methods for templates and handlers. The object has all attributes of the user record. `JSON.stringify`
 * converts the object to the ID of the user.
 */
export type UserProxy = UserProxyBase & User
/** The constructor of `UserProxy`. */
export const UserProxy = UserProxyBase as {
  new (user: User, source: UserSource): UserProxy
  fromId(id: UserId, source: UserSource): Promise<UserProxy | undefined>
}
