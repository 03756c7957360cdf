/** The ID of a user. Its type is the key type of the user table; the built-in table uses integers. */
export type UserId = number | string

/** A user record, from the built-in user table or from the application. */
export interface User {
  readonly id: UserId
  readonly email: string
  readonly emailVerified: boolean
  readonly active: boolean
  readonly isAdmin: boolean
}

/** Finds users and compares passwords for a user proxy. */
export interface UserSource {
  find(id: UserId): Promise<User | undefined>
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

  /** Restores a proxy from the result of `toJSON()`. */
  static async fromId(id: UserId, source: UserSource): Promise<UserProxy | undefined> {
    const user = await source.find(id)
    return user && new UserProxy(user, source)
  }
}

/**
 * A user with methods for templates and handlers. It serializes as the ID of the user, and has all attributes of the user
 * record.
 */
export type UserProxy = UserProxyBase & User
/** The constructor of `UserProxy`. */
export const UserProxy = UserProxyBase as {
  new (user: User, source: UserSource): UserProxy
  fromId(id: UserId, source: UserSource): Promise<UserProxy | undefined>
}
