/**
 * The store cannot be reached, or cannot write. The response is always 503, never an error about a credential.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** A unique value is taken. Callers retry with other random values. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation'
}

/** A referenced row no longer exists: it was deleted, or its ID changed, since it was read. */
export class ReferenceNotFound extends Error {
  override readonly name = 'ReferenceNotFound'
}

/** The operation would change users that belong to the application. Only the application can change them. */
export class NotOurUsers extends Error {
  override readonly name = 'NotOurUsers'
  constructor(
    message = 'The users belong to the application: change them there, and call users.deleted(id) after a deletion.',
  ) {
    super(message)
  }
}

/** The store exists, but this version cannot use it. The message says what to do. */
export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable'
}

/**
 * A newer version has migrated the store. This version can use the store, because migrations only add to the schema,
 * but only the newer version can migrate the store.
 */
export class NewerSchema extends StoreUnusable {}

/** A client or its owner has changed since the caller read it. */
export class ClientChanged extends Error {
  override readonly name = 'ClientChanged'
}
